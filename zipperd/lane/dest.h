/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A destination: one station of a rank, as the receiver in the lanes to its part. Messages go straight to its link, or
 * into its queue while the link is full. No lock, no allocation (except new slabs), no log. Worker's thread.
 */
#ifndef ZIPPERD_DEST_H
#define ZIPPERD_DEST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/list.h"
#include "common/wire/wire.h"
#include "zipperd/memory/staging.h"

struct buf;
struct lane;
struct tx;
struct worker;

struct dest {
	struct lane *lane;
	struct tx *tx;		  /* NULL: no channel, yet or any more */
	struct buf *head, **tail; /* messages that wait, oldest first */
	uint64_t queued_bytes;	  /* of all of them, envelopes included */
	uint64_t sequenced_bytes; /* of the sequenced ones: bounded by lane_limits.dest_share */
	struct list touched;	  /* in worker.touched: posted to since the last flush */
	struct list blocked;	  /* in worker.blocked: tried again in every round */
	uint32_t tries;		  /* in vain, in a row */
	struct list refused;	  /* struct refusal.of_dest, oldest first */
	uint32_t nrefused, nresumed;
	struct list starting, started; /* running transfers to it: with something left to read, and without */
	struct list carrying;	       /* in worker.carrying while there are any in starting */
	uint32_t staged;	       /* pieces that its transfers have */
	struct staging_wait hungry;    /* other receivers have all pieces */
	uint32_t index;		       /* its index in lane.dest */
	bool ready;		       /* the lists above are initialised (lane_dest) */
	bool gone;		       /* it said BYE, or its job is over for it */
	bool cold;		       /* the full link is left to epoll */
	bool asked_open;	       /* the control thread knows that it has no channel */
};

/* Hands a message to the link, or queues it. raw: its envelope as it goes out. body: of a multicast: *body is where the
 * payload lies if not in the transport's memory (NULL: nowhere yet; made when the message must wait, and held by the
 * caller). body NULL: a message to one rank. 0 or -EAGAIN: no memory, and nothing happened. */
int dest_deliver(struct worker *, struct dest *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, uint32_t len,
	struct buf **body);
/* Sends an envelope without payload. 0 or -EAGAIN: no memory. */
int dest_send(struct worker *, struct dest *, const struct zwire_env *);
/* Tells the receiver of a one-sided transfer how many bytes have been moved. 0 or -EAGAIN. */
int dest_send_moved(struct worker *, struct dest *, uint32_t src, uint64_t receiver_xfer, uint64_t moved);
/* Tries all of worker.blocked. true: something moved. */
bool dest_try_blocked(struct worker *);
/* Flushes all of worker.touched. */
void dest_flush_touched(struct worker *);

void dest_add_tx(struct worker *, struct dest *, struct tx *);
void dest_drop_tx(struct worker *, struct tx *);
/* The link broke with rc. Messages wait until the control thread says whether the rank has left (BYE) or died. */
void dest_lose_tx(struct worker *, struct dest *, int rc);
/* The rank takes nothing any more: senders of waiting messages are told. */
void dest_bye(struct worker *, struct dest *);
/* The lane goes: frees what its destination holds. */
void dest_drop(struct worker *, struct dest *);

#endif
