/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One very large message over several rails. An empty EAGER message with F_STRANDS stands in its place in the stream
 * and is matched like any other; what it announces comes in strands, which are messages of their own in the library's
 * own context: from then on each is a transfer like any other, by the rail that has the least to do (rails.h). Sender
 * and receiver compute from the length, and from how many rails carry between their parts, where they begin. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_STRANDS_H
#define ZIP_LIBZIP_STRANDS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/bridge/op.h"
#include "common/wire/wire.h"

/* Does a message of these bytes to that rank go in strands? */
bool zstrands_divide(const struct zremote *, enum zcomm_context, const struct zdata *, enum zsend_mode);
/* Sends it, as zbridge_isend. */
int zstrands_send(const struct zop_args *, const struct zdata *, struct zreq **);

/* Sender: what the envelope of an announcement (op->strands) says beside what all say. */
void zstrands_announce(const struct zop *, struct zwire_env *);
/* Receiver: is such an envelope well formed? */
bool zstrands_check(const struct zremote *from, const struct zwire_env *);
/* Receiver: the announcement of total bytes has been matched with op. xfer and flags are those of its envelope. */
void zstrands_recv(struct zop *, struct zremote *from, uint64_t xfer, int tag, uint16_t flags, uint64_t total);

/* Part of every turn of progress. Returns whether anything happened. */
bool zstrands_turn(void);
/* Is there one that must complete before MPI_Finalize does? */
bool zstrands_must_finish(void);

#endif
