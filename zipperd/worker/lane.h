/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lane is one job in one direction: its destinations with their queues, and what was refused. The control thread
 * makes it and gets it back at the end; in between it belongs to the worker of that direction. Only the counters are
 * read by the control thread meanwhile.
 */
#ifndef ZIPPERD_LANE_H
#define ZIPPERD_LANE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/list.h"
#include "zipperd/worker/pool.h"
#include "zipperd/worker/staging.h"
#include "common/transport/base/transport.h"

struct worker;
struct lane;
struct channel;
struct transfer;
struct carry;
struct fanout;
struct relay;

struct place {		     /* of a station (wire.h); read-only once the job runs */
	uint32_t part, dest; /* dest: in lanes to that part */
};

struct lane_stats { /* written by the worker, read by the control thread: relaxed atomics */
	_Atomic uint64_t msgs, bytes, envelopes, copied_bytes, naks, queue_high_bytes;
	_Atomic uint64_t shared_bytes; /* of bytes: came in once, with another receiver's */
};

static inline void stat_add(_Atomic uint64_t *counter, uint64_t n)
{
	/* One writer: no locked instruction is needed. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* What a descriptor in a worker's epoll set belongs to: the first member of each. */
enum waiter { WAITER_WAKE, WAITER_SOURCE, WAITER_TX, WAITER_SECOND };

enum source_state {
	SOURCE_GONE,   /* not in any list: broken, or not added yet */
	SOURCE_HOT,    /* polled in every round */
	SOURCE_COLD,   /* armed; epoll tells */
	SOURCE_STALLED /* take found no memory: not polled until some comes free */
};

enum one_sided { ONE_SIDED_UNKNOWN, ONE_SIDED_YES, ONE_SIDED_NO }; /* of a link, found out at first use */

/* The receiving half of a channel: belongs to the worker of (its fabric, the other one). */
struct source {
	enum waiter waiter;
	enum source_state state;
	struct list link; /* in the worker's hot, cold or stalled list */
	struct zlink *zlink;
	struct lane *lane;
	struct channel *channel;
	uint32_t station;
	uint32_t idle; /* polls without a message in a row */
	int fd;
	bool no_room;	       /* take refused for lack of memory */
	bool dropping;	       /* given back when reads is 0 */
	const char *breach;    /* take found something that no rank sends */
	struct list transfers; /* of which it is the sender */
	struct list fanouts;   /* likewise (fanout.h) */
	uint32_t ntransfers;   /* of both */
	enum one_sided one_sided;
	struct zregion *region; /* staging memory, for this link */
	uint32_t reads;		/* under way */
	struct list reading;	/* in worker.reading, while there are any */
	struct buf *receivers;	/* the list for messages to several ranks (multicast.c); NULL: none */
	struct buf *body;	/* of the one that is shown, once somebody had to keep it */
	uint32_t next_receiver; /* of it: those before have been served */
	struct fanout *fanout;	/* of it, if it has a key; NULL: none is being offered */
};

/* The sending half: belongs to the worker of (the other fabric, its fabric). */
struct tx {
	enum waiter waiter;
	struct zlink *zlink;
	struct lane *lane;
	struct dest *dest; /* NULL: not added, or gone */
	struct channel *channel;
	int fd;
	bool in_epoll;
	bool dropping;	       /* given back when writes is 0 */
	struct list finishing; /* in worker.finishing: goes when what waits for it has been sent */
	int64_t finish_ms;     /* or then */
	enum one_sided one_sided;
	struct zregion *region;		       /* staging memory, for this link */
	uint32_t writes;		       /* under way */
	struct carry *waiting, **waiting_tail; /* to be written, oldest first; the link had no room */
	struct list writing;		       /* in worker.writing, while there is any of them */
};

/* One endpoint of a rank. */
struct dest {
	struct lane *lane;
	struct tx *tx;		  /* NULL: no channel (yet, or any more) */
	struct buf *head, **tail; /* messages that wait, oldest first */
	uint64_t queued_bytes;	  /* of all of them, envelopes included */
	uint64_t sequenced_bytes; /* of the sequenced ones: bounded by dest_share */
	struct list touched;	  /* in worker.touched: posted since the last flush */
	struct list blocked;	  /* in worker.blocked: tried again in every round */
	uint32_t tries;		  /* in vain, in a row */
	struct list refused;	  /* struct refusal.of_dest, oldest first; next NULL: not initialised yet */
	uint32_t nrefused, nresumed;
	struct list starting, started; /* running transfers to it: with something to read yet, and without */
	struct list carrying;	       /* in worker.carrying, while there are any in starting */
	uint32_t staged;	       /* pieces that they have */
	struct staging_wait hungry;    /* others have all */
	uint32_t index;		       /* of it in lane.dest */
	bool ready;		       /* the lists above are initialised */
	bool gone;		       /* it said BYE, or its job is over for it */
	bool cold;		       /* the full link is left to epoll */
	bool asked_open;	       /* the control thread knows that it has no channel */
};

enum refusal_state {
	REFUSAL_NAK_DUE,    /* NAK is to be sent */
	REFUSAL_HELD,	    /* sent; the source waits */
	REFUSAL_RESUME_DUE, /* RESUME is to be sent */
	REFUSAL_RESUMED,    /* sent; seq is expected */
	REFUSAL_BYE_DUE,    /* the destination is gone: BYE is to be sent */
	REFUSAL_BYE_SAID,
};

/* "Of src's stream to dest, seq and everything behind it was dropped." */
struct refusal {
	struct refusal *chain; /* hash bucket */
	struct list of_dest;
	struct list due; /* in worker.due */
	struct dest *dest;
	struct buf *buf; /* the memory it lies in */
	uint64_t seq;
	uint32_t src; /* station */
	enum refusal_state state;
};
_Static_assert(sizeof(struct refusal) <= POOL_SMALL_BYTES, "refusals live in the smallest buffers");

#define LANE_BUCKETS 1024 /* of the tables of refusals and transfers; a power of two */

struct lane_limits {
	uint32_t eager_bytes, frag_bytes;
	uint64_t dest_share, rdv_window;
};

struct lane {
	/* set by the control thread before the worker has it */
	uint32_t job;		    /* number */
	uint32_t from, to;	    /* parts */
	uint32_t nstations;	    /* of the job */
	uint64_t carried;	    /* a bit each: parts that messages from that part can go to */
	uint32_t ndests;	    /* those of part to: endpoint after endpoint, of each all lranks */
	const struct place *place;  /* [nstations] */
	const uint32_t *station_of; /* [ndests] */
	struct lane_limits limits;
	struct worker *worker;
	void *owner;	 /* the control thread's, as wanted */
	uint64_t wanted; /* a bit each: parts that it is to have a relay to */
	bool circuit;	 /* of a circuit: one source, one destination, and everything passes as it is */
	/* the worker's */
	struct lane *next;
	struct dest *dest;	     /* [ndests] */
	struct refusal **bucket;     /* [LANE_BUCKETS] */
	struct transfer **transfers; /* [LANE_BUCKETS], by source and id */
	struct relay **relay;	     /* [nparts]: the way to the worker of (from, that part); NULL: none yet */
	uint64_t asked;		     /* a bit each: parts that the control thread was asked for a relay to */
	uint32_t halves;	     /* sources and txs that it has */
	bool dropping;		     /* given back when halves is 0 */
	bool flooded;		     /* said so */
	alignas(64) struct lane_stats stats;
};

/* Control thread. To all parts, until carried says less. NULL: out of memory. */
struct lane *lane_create(uint32_t ndests, uint32_t nparts);
/* Of a circuit: it has one destination, and no tables. */
struct lane *lane_create_circuit(void);
void lane_destroy(struct lane *); /* not while a worker has it */

/* Makes the lists of a destination usable (destinations of large jobs are many, most are never used). */
static inline void dest_touch(struct lane *l, uint32_t index)
{
	struct dest *d = &l->dest[index];
	if (d->ready)
		return;
	d->ready = true;
	d->lane = l;
	d->index = index;
	d->tail = &d->head;
	list_init(&d->refused);
	list_init(&d->starting);
	list_init(&d->started);
}

/* Refusals. All in the worker's thread. */
struct refusal *refusal_find(struct lane *, uint32_t src, const struct dest *);
struct refusal *refusal_add(struct buf *, uint32_t src, struct dest *, uint64_t seq); /* lives in the buffer */
void refusal_del(struct pool *, struct refusal *);				      /* whose buffer it was */

#endif
