/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Relays: rings by which workers with the same first fabric hand things to each other, one for each ordered pair of
 * workers. They carry messages to several ranks (multicast.c), and the words between a fan-out's reader and its
 * receivers' workers (fanout.h).
 */
#ifndef ZIPPERD_RELAY_H
#define ZIPPERD_RELAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "zipperd/memory/ring.h"

struct buf;
struct lane;
struct piece;
struct worker;

/* A receiver's place in a fan-out, as its own worker knows it. */
struct fan {
	uint64_t id;	       /* of the fan-out, among the reader's */
	struct worker *reader; /* the owner of the staging memory that the pieces are from */
	uint32_t receiver;     /* index in fanout.receiver */
	uint32_t part;	       /* that the reader's lane leads to */
};

enum relayed_what {
	RELAYED_MESSAGE, /* for one rank: env, body, len, shared */
	RELAYED_OFFER,	 /* reader to receiver's worker: env, fan */
	RELAYED_PIECE,	 /* reader to receiver's worker: piece, src, dst, xfer (of the transfer), shared */
	RELAYED_DECLINE, /* reader to receiver's worker: src, dst, xfer. No more pieces come, none is under way */
	RELAYED_READY,	 /* receiver's worker to reader: fan. The memory is open */
	RELAYED_LEFT,	 /* receiver's worker to reader: fan. There is nothing more to write */
};

struct relayed {
	enum relayed_what what;
	uint32_t job, len, src, dst;
	bool shared;	  /* another receiver's came in with it */
	bool refused;	  /* OFFER: the reader is to hear that the receiver has LEFT */
	struct buf *body; /* NULL: no payload */
	struct piece *piece;
	struct fan fan;
	uint64_t xfer;
	uint8_t env[ZWIRE_ENV_BYTES];
};

RING(relay_ring, struct relayed, 64); /* so many bodies and pieces are held back at most */

struct relay { /* made by the control thread, and kept as long as worker from */
	struct relay_ring ring;
	struct worker *from, *to;
	_Atomic bool full;	    /* from waits for room */
	struct relay *full_next;    /* from's */
	bool waits;		    /* from's: in its list of full relays */
	struct relay *inbound_next; /* to's */
	struct relay *told_next;    /* from's */
	bool told;		    /* from's: to is to be woken in this round */
	struct relay *next;	    /* the control thread's: in from's outbound */
};

/* The way to the worker of that part. NULL: there is none yet. The control thread has been asked for it, and the
 * stalled sources are looked at again when it is there. */
struct relay *relay_to(struct lane *, uint32_t part);
/* false: the relay is full; the worker looks again when there is room. */
bool relay_push(struct worker *, struct relay *, const struct relayed *);
/* Answers another worker about something that it has handed over. The answer is kept where there is no room: the other
 * worker may have a full relay, too, and make room only after its own answer has left. 0 or -EAGAIN: no memory. */
int relay_answer(struct worker *, struct relay *, const struct relayed *);
/* Looks for room in full relays and pushes kept answers. To be called in a round where worker.full or worker.kept is
 * set. true: something moved. */
bool relay_catch_up(struct worker *);
/* Wakes the workers that something was pushed to. */
void relay_wake(struct worker *);
/* All threads have ended: frees kept answers. */
void relay_fini(struct worker *);

#endif
