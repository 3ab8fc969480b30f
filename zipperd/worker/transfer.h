/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided transfers (wire.h says how they are agreed upon): the worker of the direction reads pieces from the
 * sender's memory into its staging and writes them into the receiver's, one piece coming in while others go out. It
 * owns both halves that this takes: the receiving one of the sender's channel, the sending one of the receiver's. Ranks
 * have nothing to do with it, and no byte is copied by the CPU where a device does it.
 *
 * A transfer is OFFERED from the sender's RTS on and kept in its source. It RUNS from the receiver's CTS on, which
 * comes as a note from the opposite worker, in the order of these for each receiver; a receiver has at most its share
 * of the pieces, receivers take turns. When all is written it is DONE until both sides could be told. One of them being
 * lost makes it DEAD: it goes with its last piece. All in the worker's thread.
 *
 * Pieces of a host that has died hang until its links give up, and there may be as many of them as there are. So a
 * receiver that has had none for STAGING_PATIENCE_MS, in which none came back, gets its messages as fragments.
 */
#ifndef ZIPPERD_TRANSFER_H
#define ZIPPERD_TRANSFER_H

#include <stdbool.h>

#include "zipperd/worker/worker.h"

#define TRANSFER_OFFERS_MAX 1024 /* per source; further messages travel as fragments */

enum transfer_state { TRANSFER_OFFERED, TRANSFER_RUNNING, TRANSFER_DONE, TRANSFER_DEAD };

struct transfer {
	struct transfer *chain; /* hash bucket */
	struct list of_source;	/* in source.transfers; unlinked when that is lost, and where it is fanned */
	struct list of_dest;	/* RUNNING: in dest.starting or dest.started; DONE: in worker.telling */
	struct source *source;	/* NULL: lost */
	struct dest *dest;
	struct buf *buf;		  /* the memory it lies in */
	uint64_t xfer, peer_xfer;	  /* ids of the sender and of the receiver */
	uint64_t ack;			  /* of the receiver's CTS, for the sender */
	uint64_t total, started, written; /* bytes */
	uint32_t src;			  /* station */
	uint32_t pieces;		  /* under way */
	uint8_t state;
	bool told_dest;
	bool declined;		/* DONE, but in vain */
	bool fanned;		/* it takes part in a fan-out, from which its pieces come */
	bool borrows;		/* region is for it alone, see fanned_admit */
	struct zregion *region; /* the memory that is written from, for the receiver's link */
	uint8_t to[ZRMA_KEY_BYTES];
	union {
		uint8_t from[ZRMA_KEY_BYTES];
		struct fan fan;
	};
};
_Static_assert(sizeof(struct transfer) <= POOL_SMALL_BYTES, "transfers live in the smallest buffers");

struct transfer *transfer_find(struct lane *, uint32_t src, uint64_t xfer); /* or NULL */
/* An RTS with a key. true: kept (the receiver may be told that it can be done); false: forward it as a plain one. */
bool transfer_offer(struct source *, struct dest *, const struct zwire_env *, const uint8_t key[ZRMA_KEY_BYTES]);
/* To one receiver of a fan-out, in the lane that leads to it: the RTS, already without the key, is admitted and
 * forwarded. 1: it is offered the transfer; 0: it is not, and has nothing to do with the fan-out; -EAGAIN: later;
 * -ENOBUFS is not returned. */
int transfer_offer_fanned(struct lane *, const struct zwire_env *, const struct fan *);
/* The receiver's answer, from the opposite worker: a key, or that it does not want. -EAGAIN: no room, again later. */
int transfer_go(struct worker *, struct dest *, const struct note *);
int transfer_withdraw(struct worker *, struct dest *, const struct note *);
/* Pieces of fan-outs. Can the source be read from? */
bool transfer_can_read(struct source *);
/* Reads piece->len bytes at piece->offset. 0: under way; -EAGAIN: not now; others: the source is lost. */
int transfer_read_piece(struct worker *, struct source *, const uint8_t key[ZRMA_KEY_BYTES], struct piece *);
/* Writes a piece to the receiver of a transfer that is RUNNING and whose tx is there, now or as soon as there is room.
 */
void transfer_carry(struct worker *, struct carry *);
/* Tells the receiver how many bytes of it have been moved. 0 or -EAGAIN. */
int transfer_tell_dest(struct worker *, struct dest *, uint32_t src, uint64_t peer_xfer, uint64_t moved);
/* One that is RUNNING, without pieces under way, goes on in fragments, from 0: its receiver is to be told, and tells
 * its sender. */
void transfer_decline(struct worker *, struct transfer *);
/* One without pieces under way goes. */
void transfer_release(struct worker *, struct transfer *);
void transfer_drop_carry(struct worker *, struct carry *); /* it has been written, or will not be */
/* transfer_move.c. One turn of moving. true: something moved. */
bool transfer_turn(struct worker *);
/* Is anything under way? The halves concerned are armed as far as they can be; true in *poll: look again soon. */
bool transfer_sleep(struct worker *, bool *poll);

/* The half is lost or dropped: nothing new is started on it. What is under way is waited for: only when reads (writes)
 * is 0 may the half be given back. */
void transfer_source_gone(struct worker *, struct source *);
void transfer_dest_gone(struct worker *, struct dest *);
/* All halves were given back. */
void transfer_drop_lane(struct worker *, struct lane *);

#endif
