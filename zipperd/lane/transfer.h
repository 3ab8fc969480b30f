/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided transfers (wire.h says how sender and receiver agree on them). The worker of the direction reads pieces
 * from the sender's memory into its staging memory and writes them into the receiver's. One piece comes in while others
 * go out. The worker owns both halves that this takes: the receiving half of the sender's channel and the sending half
 * of the receiver's. The ranks do nothing, and no byte is copied by the CPU where a device does it.
 *
 * A transfer is OFFERED from the sender's RTS on, and its source keeps it. It is RUNNING from the receiver's CTS on.
 * The CTS comes as a note from the opposite worker. Transfers of one receiver run in the order of their CTS. A receiver
 * has at most its share of the pieces; receivers take turns. When all is written the transfer is DONE, until both sides
 * have been told. It is DEAD when one side is lost, and goes with its last piece.
 *
 * Pieces of a host that has died hang until its links give up, and they may be all the pieces there are. So a receiver
 * that has had none for STAGING_PATIENCE_MS, while none came back, gets its messages as fragments.
 *
 * This module has the record, its table in the lane, and its end. offer.c, carry.c and move.c do the rest. All in the
 * worker's thread.
 */
#ifndef ZIPPERD_TRANSFER_H
#define ZIPPERD_TRANSFER_H

#include <stdbool.h>

#include "zipperd/lane/half.h"
#include "zipperd/lane/relay.h"
#include "zipperd/memory/pool.h"

#define TRANSFER_OFFERS_MAX 1024 /* per source; further messages travel as fragments */

struct carry;
struct dest;

enum transfer_state { TRANSFER_OFFERED, TRANSFER_RUNNING, TRANSFER_DONE, TRANSFER_DEAD };

struct transfer {
	struct transfer *chain; /* hash bucket */
	struct list of_source;	/* in source.transfers; unlinked when the source is lost, and in a fan-out */
	struct list of_dest;	/* RUNNING: in dest.starting or dest.started; DONE: in worker.telling */
	struct source *source;	/* NULL: lost */
	struct dest *dest;
	struct buf *buf;		  /* the memory of this struct */
	uint64_t xfer, receiver_xfer;	  /* ids of the sender and of the receiver */
	uint64_t ack;			  /* of the receiver's CTS, for the sender */
	uint64_t total, started, written; /* bytes */
	uint32_t src;			  /* station */
	uint32_t pieces;		  /* under way */
	uint8_t state;
	bool told_dest;
	bool declined;		/* DONE in vain: the message goes in fragments */
	bool fanned;		/* it takes part in a fan-out, from which its pieces come */
	bool borrows;		/* region is for this transfer alone (borrowed.h) */
	struct zregion *region; /* the memory that is written from, for the receiver's link */
	uint8_t to[ZRMA_KEY_BYTES];
	union {
		uint8_t from[ZRMA_KEY_BYTES];
		struct fan fan;
	};
};
_Static_assert(sizeof(struct transfer) <= POOL_SMALL_BYTES, "transfers live in the smallest buffers");

/* A new transfer from src to the destination, in the lane's table. NULL: no memory, or there is one of that id. */
struct transfer *transfer_create(struct lane *, struct dest *, uint32_t src, const struct zwire_env *);
/* NULL: there is none. */
struct transfer *transfer_find(struct lane *, uint32_t src, uint64_t xfer);
/* Frees a transfer without pieces under way. */
void transfer_release(struct worker *, struct transfer *);
/* A piece has been written, or will not be. */
void transfer_drop_carry(struct worker *, struct carry *);
/* A RUNNING transfer without pieces under way goes on in fragments, from byte 0. Its receiver is told, and tells its
 * sender. */
void transfer_decline(struct worker *, struct transfer *);

/* Can the link of the source be read from? */
bool transfer_can_read(struct source *);
/* Can the link of the transfer's receiver be written to, from the memory of the pieces? Sets t->region. */
bool transfer_can_write(struct worker *, struct transfer *t);

/* The half is lost or dropped: nothing new is started on it. Operations under way are waited for: the half may be given
 * back only when its reads (writes) are 0. */
void transfer_source_gone(struct worker *, struct source *);
void transfer_dest_gone(struct worker *, struct dest *);
/* All halves of the lane were given back. */
void transfer_drop_lane(struct worker *, struct lane *);

#endif
