/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of the allocation, shared by its files: adapt.c (iterations, links), adapt_paths.c (messages with drawn
 * paths), adapt_forks.c (messages that ask for all shortest paths of a forked network), adapt_runs.c (the order of the
 * latter), adapt_legs.c (sums over the legs that they share) and adapt_batch.c (arithmetic).
 *
 * One thread works on one chunk of messages at a time. Each thread has its own sums. All sums are integers: their order
 * does not matter, and the result is the same for any number of threads.
 */
#ifndef ZIP_MAPPER_ADAPT_STATE_H
#define ZIP_MAPPER_ADAPT_STATE_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapper/model/adapt.h"

/* Iterations without success after which a message with fixed paths gives up, once all bandwidth is exposed: from then
 * on the bandwidth left on a link never grows. */
#define ADAPT_PATIENCE_FIXED 1u

/* Messages of a batch are computed in whole vectors. Entries beyond the last message send nothing. A task's arrays of
 * items are longer by one vector. */
#define ADAPT_VECTOR 16u

/* The numbers read of a link and the number added to it share one cache line access. */
struct adapt_cell {
	float left;  /* remaining bandwidth; FLT_MAX for void links */
	float share; /* availability: left / requested; FLT_MAX for void links, less for all others */
	uint64_t sum;
};

struct adapt_history {
	float left, share;
};

struct adapt_ends {
	uint32_t in, out; /* two more links in the middle */
};

/* Messages of a forked network, in arrays of the task's items: their legs, the units that they send, and the bandwidth
 * that they got so far on both ways of the first leg and both ways of the last leg. Their links need to know no more.
 */
struct adapt_forks {
	uint32_t *first, *last, *units;
	float *ways[4];
	struct adapt_ends *ends; /* NULL if the middle is one link */
};

/* Messages of a task that share middle[0]: begin..begin+all-1. Messages that still ask stand in front. */
struct adapt_run {
	uint64_t begin;
	uint32_t asking, all, middle;
	uint32_t refused;   /* asking messages that found nothing in this iteration */
	uint32_t low, high; /* range of the numbers of their last legs */
};

typedef uint64_t adapt_pair __attribute__((vector_size(16))); /* for both ways of a leg */

/* For both ways of a leg, the least number over its links. */
struct adapt_leg {
	float left[2], share[2];
};

/* One chunk of one flow: the work of a thread. Items are numbered as in the chunk; by runs, if forked. An item sums the
 * messages between two points. Where it draws paths, each of its messages draws for itself (adapt_draws.h): the item is
 * cut into so many equal pieces. */
struct adapt_task {
	unsigned flow;
	bool forked;
	const struct traffic_chunk *chunk;
	uint64_t items, pieces;
	uint32_t *piece; /* [items + 1]: the first piece of each item; NULL: each item is one piece */
	float *got;	 /* per piece: bandwidth allocated so far; NULL if forked */
	struct adapt_forks forks;
	struct adapt_run *runs;
	uint32_t nruns;
	uint16_t *last; /* per piece, or item if forked: last iteration in which it got something */
	uint64_t found, starved;
	double hops; /* bytes x links crossed, in the passes that spread */
};

enum adapt_pass { ADAPT_REQUEST, ADAPT_ALLOCATE, ADAPT_SPREAD, ADAPT_EVEN };

struct adapt {
	const struct net *net;
	const struct model_flow *flows;
	const struct model_opts *opts;
	struct adapt_task *tasks;
	size_t ntasks;
	void *items; /* memory of all tasks' arrays, one after the other */
	size_t items_bytes;
	struct adapt_cell **cells; /* [threads][links] */
	/* Where messages are many they meet at legs before they meet at links; otherwise these are NULL. */
	struct adapt_leg *legs;		/* [net->legs], follow the cells while `dense` */
	adapt_pair **leg_sums;		/* [threads][net->legs] */
	uint8_t *leg_hops;		/* [net->legs] */
	bool dense;			/* the passes in work go by legs */
	double *left;			/* [links], exact; follows the cells */
	struct adapt_history **history; /* [iterations][links]; NULL if all flows are forked */
	uint64_t forked;		/* messages of all forked flows */
	bool failed;			/* a thread found no memory */
	unsigned iterations;		/* number of iterations done */
	unsigned exposure, turns;
	unsigned draws;	  /* most pieces of an item */
	bool draws_fewer; /* some item has more messages than that */
	float cutoff;
	double scale[4]; /* of the sums, by pass */
	/* about the pass in work */
	enum adapt_pass pass;
	unsigned iteration, flow; /* flow: in ADAPT_SPREAD and ADAPT_EVEN */
};

/* Does a message that last found something in iteration `last` still ask in this iteration? */
static inline bool adapt_asks(const struct adapt *a, unsigned last, unsigned patience)
{
	return a->iteration < a->exposure || a->iteration <= last + (uint64_t)patience * a->turns;
}

/* The number of links that a leg crosses, the same on both ways. */
static inline uint8_t adapt_leg_hops(const struct adapt *a, const struct net_leg *leg)
{
	const uint8_t *class = a->net->link_class;

	return (uint8_t)((class[leg->link[0][0]] != NET_NONE) + (class[leg->link[0][1]] != NET_NONE));
}

static inline double adapt_bytes(const struct adapt *a, const struct adapt_task *t, uint64_t j)
{
	return (double)t->chunk->items[j].units * (double)a->flows[t->flow].traffic->unit;
}

#endif
