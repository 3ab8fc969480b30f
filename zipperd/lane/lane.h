/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lane is one track of a job in one direction: from one part to another, with its destinations and its tables of
 * refusals and transfers. A circuit's lane has one source and one destination. The control thread makes the lane and
 * gets it back at the end. In between the lane belongs to the worker of that direction, and the control thread reads
 * only the counters.
 */
#ifndef ZIPPERD_LANE_H
#define ZIPPERD_LANE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "zipperd/lane/deficit.h"
#include "zipperd/lane/dest.h"
#include "zipperd/lane/rules.h"
#include "zipperd/lane/share.h"

struct refusal;
struct relay;
struct stream_in;
struct transfer;
struct worker;

struct place {		     /* of a station (wire.h); read-only once the job runs */
	uint32_t part, dest; /* dest: index in lanes to that part */
};

#define LANE_LATENCIES 24

struct lane_stats { /* written by the worker, read by the control thread: relaxed atomics */
	_Atomic uint64_t msgs, bytes, envelopes, copied_bytes, naks, queue_high_bytes;
	_Atomic uint64_t shared_bytes; /* the share of bytes that came in once for several receivers */
	_Atomic uint64_t queue_bytes;  /* that wait now, for all receivers */
	_Atomic uint64_t stalls;       /* times that a source had to wait, as there was no memory */
	_Atomic uint64_t latency_ns, latency[LANE_LATENCIES]; /* sample.h: their sum, and counts */
};

#define LANE_BUCKETS 1024 /* of the tables of refusals and transfers; a power of two */

struct lane_limits {
	uint32_t eager_bytes, frag_bytes;
	uint64_t dest_share, rdv_window;
};

struct lane {
	/* set by the control thread before the worker has it */
	uint32_t job;		    /* number */
	uint32_t from, to;	    /* parts */
	uint32_t track;		    /* of the job */
	uint32_t nstations;	    /* of the job */
	uint64_t carried;	    /* a bit for each part that messages from part from can go to */
	uint32_t ndests;	    /* destinations in part to: station 0 of all lranks, then station 1, ... */
	const struct place *place;  /* [nstations] */
	const uint32_t *station_of; /* [ndests] */
	struct lane_limits limits;
	struct worker *worker; /* lane_join */
	struct list of_worker; /* in worker.all_lanes: the control thread's */
	void *owner;	       /* the control thread's: its job or circuit */
	uint64_t wanted;       /* the control thread's: a bit for each part that the lane is to have a relay to */
	bool circuit;	       /* of a circuit: everything passes as it is */
	bool trunk;	       /* of a trunk: it has nothing but counters */
	/* the worker's */
	struct lane *next;
	struct stream_in *stream; /* a circuit's: the stream that its messages come by (stream.h); NULL: none */
	struct deficit deficit;	  /* its part of the worker's rounds */
	struct share_user memory; /* of waiting messages that are sequenced, or of a circuit; its share is set before */
	struct dest *dest;	  /* [ndests] */
	struct refusal **bucket;  /* [LANE_BUCKETS] */
	struct transfer **transfers; /* [LANE_BUCKETS], by source and id */
	struct relay **relay;	     /* [nparts]: the way to the worker of (from, that part); NULL: none yet */
	uint64_t asked;		     /* a bit for each part that the control thread was asked for a relay to */
	uint32_t halves;	     /* sources and txs that the worker has */
	bool dropping;		     /* given back when halves is 0 */
	bool flooded;		     /* a breach by a source of another worker was reported */
	alignas(64) struct lane_stats stats;
};

/* Control thread. A lane to all parts, until carried says less. NULL: out of memory. */
struct lane *lane_create(uint32_t ndests, uint32_t nparts);
/* A circuit's: it has one destination and no tables. */
struct lane *lane_create_circuit(void);
/* The lane is to be that worker's: notes it with the worker. Control thread. */
void lane_join(struct lane *, struct worker *);
void lane_destroy(struct lane *); /* not while a worker has it; control thread */

static inline void lane_add(_Atomic uint64_t *counter, uint64_t n)
{
	/* One writer: no locked instruction is needed. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Counts a message, or its RTS, that has been passed on. */
static inline void lane_count(struct lane *l, const struct zwire_env *env)
{
	lane_add(&l->stats.envelopes, 1);
	if (rules_is_sequenced(env->kind))
		lane_add(&l->stats.msgs, 1);
	if (env->len > 0 && !(env->flags & ZWIRE_F_ONE_SIDED))
		lane_add(&l->stats.bytes, env->len);
}

/* The destination of that index. Its lists are initialised at first use: large jobs have many destinations, and use few
 * of them. */
static inline struct dest *lane_dest(struct lane *l, uint32_t index)
{
	struct dest *d = &l->dest[index];
	if (d->ready)
		return d;
	d->ready = true;
	d->lane = l;
	d->index = index;
	d->tail = &d->head;
	list_init(&d->refused);
	list_init(&d->starting);
	list_init(&d->started);
	return d;
}

#endif
