/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocation's own data, shared by adapt.c (iterations, links), adapt_paths.c (messages with drawn paths) and
 * adapt_forks.c (messages that ask for all shortest paths of a forked network).
 *
 * One thread works on one chunk of messages at a time; each thread has its own sums. All sums are integers, so that
 * their order does not matter and the result is the same for any number of threads.
 */
#ifndef ZIP_MAPPER_ADAPT_IMPL_H
#define ZIP_MAPPER_ADAPT_IMPL_H

#include <float.h>

#include "adapt.h"

#define ADAPT_BLOCK 8 /* messages prefetched ahead: 8 x 40 links is about what the cache's miss buffers take */
/* Items that are fetched ahead: a chunk is walked along in more places than the processor's own prefetching follows. */
#define ADAPT_AHEAD 16
/* Iterations that a message with fixed paths stays in without success once all bandwidth is exposed: what is left on a
 * link never grows then. */
#define ADAPT_PATIENCE_FIXED 1u

/* What is read of a link and what is added to it share one cache line access. */
struct adapt_cell {
	float left;  /* remaining bandwidth; FLT_MAX for void links */
	float share; /* availability: left / requested; FLT_MAX for void links, and for no others */
	uint64_t sum;
};

struct adapt_history {
	float left, share;
};

/* Bandwidth that a message of a forked network got so far, by beginning and by end: what its links need to know. */
struct adapt_ways {
	float first[2], last[2];
};

/* One chunk of one flow: what is handed to a thread. */
struct adapt_task {
	unsigned flow;
	bool forked;
	const struct traffic_chunk *chunk;
	float *got;		 /* per item: bandwidth allocated so far; NULL if forked */
	struct adapt_ways *ways; /* per item; NULL if not forked */
	uint16_t *last;		 /* per item: last iteration in which it got something */
	uint64_t found, starved;
	double hops; /* bytes x links crossed, of the passes that spread */
};

enum adapt_pass { ADAPT_REQUEST, ADAPT_ALLOCATE, ADAPT_SPREAD, ADAPT_EVEN };

struct adapt {
	const struct net *net;
	const struct model_flow *flows;
	const struct model_opts *opts;
	struct adapt_task *tasks;
	size_t ntasks;
	struct adapt_cell **cells; /* [threads][links] */
	double *left;		   /* [links], exact; follows the cells */
	struct adapt_history **history; /* [iterations][links]; NULL if all flows are forked */
	unsigned iterations;	   /* done */
	unsigned exposure, turns;
	float cutoff;
	double scale[4]; /* of the sums, by pass */
	/* of the pass in work */
	enum adapt_pass pass;
	unsigned iteration, flow; /* flow: ADAPT_SPREAD and ADAPT_EVEN */
};

/* The pass in work over one task: par_fn. Forked ones are spread in one pass (ADAPT_EVEN). */
void adapt_paths_pass(struct adapt *, struct adapt_task *, unsigned worker);
void adapt_forks_pass(struct adapt *, struct adapt_task *, unsigned worker);

/* Do messages that found something in iteration `last` for the last time still ask in this one? */
static inline bool adapt_asks(const struct adapt *a, unsigned last, unsigned patience)
{
	return a->iteration < a->exposure || a->iteration <= last + (uint64_t)patience * a->turns;
}

static inline double adapt_bytes(const struct adapt *a, const struct adapt_task *t, uint64_t j)
{
	return (double)t->chunk->items[j].units * (double)a->flows[t->flow].traffic->unit;
}

/*
 * The items of a chunk whose turn it is, in tiles: those of all source points to one range of destinations, then those
 * to the next range. Links near the sources stay in the cache all the time, those near the destinations for a tile.
 */
struct adapt_walk {
	const struct traffic_chunk *chunk;
	unsigned turns;
	uint32_t i, width;	/* source point; destinations of a tile */
	uint64_t end, points;	/* end of the tile */
	uint64_t at[TRAFFIC_CHUNK_POINTS]; /* next item of each source point */
};

void adapt_walk_begin(struct adapt_walk *, const struct adapt *, const struct traffic_chunk *);

/* Moves on to source point w->i, item *j; false at the end. */
static inline bool adapt_walk_next(struct adapt_walk *w, uint64_t *j)
{
	const struct traffic_chunk *c = w->chunk;

	for (;;) {
		uint64_t at = w->at[w->i];

		if (at < c->off[w->i + 1] && c->items[at].dst < w->end) {
			__builtin_prefetch(&c->items[at + ADAPT_AHEAD]);
			w->at[w->i] = at + w->turns;
			*j = at;
			return true;
		}
		if (++w->i < c->n)
			continue;
		if (w->end >= w->points)
			return false;
		w->i = 0;
		w->end += w->width;
	}
}

#endif
