/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes to one remote rank: its stream of sequenced messages (peer.h), the sends that wait for its window, and the
 * acknowledgements that we owe it. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_OUTGOING_H
#define ZIP_LIBZIP_OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/bridge/op.h"
#include "libzip/bridge/peer.h"

struct zchannel;

struct zremote {
	struct zpeer stream;
	uint32_t vrank;
	struct zchannel *channel;
	struct zop_list pending; /* sends that are not in the stream yet, in order */
	struct zremote *ready_next, *owed_next;
	bool ready;   /* in the channel's list */
	bool by_list; /* what is in its stream goes by lists of receivers, over the carrier (multicast.h) */
	uint32_t rails_told, rails_heard; /* that are lost, a bit each: what was said, and heard (failover.h) */
	bool rails_asked;		  /* it has asked, and transfers of it are to be restarted */
	bool owed;			  /* in the list of those we may owe an acknowledgement */
};

/* 0 or -ENOMEM. */
int zoutgoing_init(void);
void zoutgoing_fini(void);

/* The state of a remote rank, made (and its channel opened) on first use. NULL: no memory. */
struct zremote *zremote_get(uint32_t vrank);
/* The same for one that has come to us: a new one's channel waits for a link, and nobody is asked for one. */
struct zremote *zremote_get_direct(uint32_t vrank);
/* The same for one whose message came by zipperd. */
struct zremote *zremote_get_bridged(uint32_t vrank);
/* The channel that its sequenced messages go by. */
struct zchannel *zoutgoing_way(const struct zremote *);
/* NULL: never met. */
struct zremote *zremote_find(uint32_t vrank);
/* Is it decided that it is reached by zippers? */
bool zremote_is_bridged(const struct zremote *);

/* Small message, room in the window, nothing waiting before it: sends it at once. False: use an operation. */
bool zoutgoing_try_eager(struct zremote *, uint64_t context, int tag, const struct zdata *);
/* Starts a send operation. An MPI error class. */
int zoutgoing_start(struct zop *);
/* Moves pending sends into the window and posts what is not posted. */
void zoutgoing_pump(struct zremote *);
/* The peer has left: everything to it counts as done. */
void zoutgoing_leave(struct zremote *);

/* A sequenced message of that peer was taken: remember to acknowledge. */
void zoutgoing_owe(struct zremote *);
/* Sends pure acknowledgements: those that are due, or (all) every one that is owed. */
bool zoutgoing_ack(bool all);
/* Is any owed? */
bool zoutgoing_owes(void);

/* Nothing unacknowledged and nothing pending to anybody. */
bool zoutgoing_drained(void);

#endif
