/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker moves messages of one direction (an ordered pair of fabrics). It owns the receiving halves of the channels
 * of ranks on its first fabric, the sending halves of those on its second, and the lanes of this direction. A direction
 * may have several workers. Each has channels and lanes of its own, so they have nothing to hand to each other.
 *
 * Threads talk through rings only. The control thread sends commands and gets events; the two workers of a pair of
 * fabrics exchange notes (ports.h). Workers with the same first fabric hand messages for several ranks to each other
 * (relay.h).
 */
#ifndef ZIPPERD_WORKER_H
#define ZIPPERD_WORKER_H

#include "zipperd/lane/half.h"
#include "zipperd/lane/lane.h"
#include "zipperd/lane/ports.h"
#include "zipperd/lane/sample.h"
#include "zipperd/memory/pool.h"
#include "zipperd/memory/staging.h"

struct borrowed;
struct trunk_tx;

struct worker {
	struct worker_ports *ports;
	struct worker *opposite;
	struct lane *lanes;		 /* except those of circuits */
	struct list hot, cold, stalled;	 /* sources */
	uint32_t hot_sources, hot_lanes; /* the latter: lanes with hot sources */
	uint32_t round;			 /* of lanes that share the worker (deficit.h) */
	uint64_t unlooked;		 /* bytes taken since the last look at epoll */
	struct list touched, blocked;	 /* destinations */
	struct list due;		 /* refusals that a source is to be told of */
	struct list carrying; /* destinations with transfers that have something left to read; they take turns */
	struct list reading, writing; /* sources and txs with one-sided operations under way */
	struct list telling;	      /* transfers that are DONE, and a side does not know yet */
	struct list finishing;	      /* txs that go when their queue is empty */
	struct list fanouts;	      /* fan-outs that this worker is the reader of */
	uint64_t fanout_serial;
	uint32_t lent;		   /* pieces of its staging memory that its fan-outs have */
	struct borrowed *borrowed; /* other readers' staging memory, as its links know it (borrowed.h) */
	struct trunk_tx *trunks;   /* hash by number: sending halves of trunks (stream.h) */
	struct list trunks_full;   /* those with something that waits for the link */
	struct list streams_held;  /* streams with messages that wait for memory, or with their end */
	struct list streams_wide;  /* streams with a large window, that which has moved last is last */
	struct list streams_due;   /* streams with a note for the opposite worker, whose ring was full */
	uint32_t cold_txs;	   /* full links that are left to epoll */
	struct pool pool;
	struct staging staging;
	int epoll;
	/* The epoll sets of its sources and of its full links. They are the worker's own, unless two workers share a
	 * thread: then sources are in the first worker's set, so that a message is found at once, and full links in the
	 * second's. Two sets are needed because a TCP link has one descriptor and its halves belong to both workers. */
	int rx_epoll, tx_epoll;
	uint32_t turns;
	struct samples samples;
	bool stop;
	bool freed;			  /* a buffer came free since the stalled sources were looked at */
	bool told_opposite, told_control; /* their descriptors are to be written in this round */
	struct relay *inbound;		  /* relays to this worker */
	struct relay *told;		  /* relays from this worker whose readers are to be woken */
	struct relay *full;	       /* relays from this worker that were full when a source had something for them */
	struct buf *kept, **kept_tail; /* answers for full relays, oldest first (relay.c) */

	/* the control thread's alone */
	struct relay *outbound;		/* relays from this worker */
	struct list all_lanes;		/* lane_join: of jobs and circuits */
	uint64_t past_msgs, past_bytes; /* of lanes that are freed */

	/* set by the control thread */
	const struct ztransport *settles; /* the transport that endpoint is of, or NULL */
	struct zendpoint *endpoint;
	enum waiter waiter; /* WAITER_WAKE */
	enum waiter second; /* WAITER_SECOND, in the epoll set of the first worker of a shared thread */
	int wake_fd;	    /* eventfd: any thread -> worker */
	int control_fd;	    /* eventfd: worker -> control thread */
};

/* The worker's lane of that job from one station's part to the other's. NULL: the job is over. A job has several lanes
 * in one worker where several of its parts come by the same fabric; its tracks are with different workers. */
static inline struct lane *worker_lane(const struct worker *w, uint32_t job, uint32_t from, uint32_t to)
{
	struct lane *l = w->lanes;
	while (l && (l->job != job || l->place[from].part != l->from || l->place[to].part != l->to))
		l = l->next;
	return l;
}

#endif
