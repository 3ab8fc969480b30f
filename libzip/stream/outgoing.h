/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to remote ranks: the sends that wait for the window of their stream (peer.h), and the acknowledgements that
 * this rank owes. The size decides how a message goes: EAGER, which holds it all, up to eager_bytes; RTS beyond that
 * (zoutgoing_try_eager, zoutgoing_start). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_OUTGOING_H
#define ZIP_LIBZIP_OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

struct zdata;
struct zop;
struct zremote;
struct zstation;

/* Forgets the list of ranks that acknowledgements are owed to. */
void zoutgoing_fini(struct zstation *);

/* A small message with room in the window and nothing waiting before it: sends it at once. False: use an operation. */
bool zoutgoing_try_eager(struct zremote *, uint64_t context, int tag, const struct zdata *);
/* Starts a send operation. An MPI error class. */
int zoutgoing_start(struct zop *);
/* Moves pending sends into the window and posts what is not posted. */
void zoutgoing_pump(struct zremote *);
/* The peer has left: everything to it counts as done. */
void zoutgoing_leave(struct zremote *);

/* A sequenced message of that peer was taken: remember to acknowledge. */
void zoutgoing_owe(struct zremote *);
/* Sends pure acknowledgements: those that are due, or (all) every one that is owed. Returns whether any was sent. */
bool zoutgoing_ack(struct zstation *, bool all);
/* Is any owed? */
bool zoutgoing_owes(struct zstation *);

/* Is nothing unacknowledged and nothing pending to anybody? */
bool zoutgoing_drained(const struct zstation *);

#endif
