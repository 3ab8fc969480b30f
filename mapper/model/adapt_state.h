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

/* Iterations that a message with fixed paths stays in without success once all bandwidth is exposed: what is left on a
 * link never grows then. */
#define ADAPT_PATIENCE_FIXED 1u

/* They are computed in whole vectors, so some beyond the last message too, which send nothing; a task's arrays of items
 * are longer by as many. */
#define ADAPT_VECTOR 16u

/* What is read of a link and what is added to it share one cache line access. */
struct adapt_cell {
	float left;  /* remaining bandwidth; FLT_MAX for void links */
	float share; /* availability: left / requested; FLT_MAX for void links, and for no others */
	uint64_t sum;
};

struct adapt_history {
	float left, share;
};

struct adapt_ends {
	uint32_t in, out; /* further links of the middle */
};

/* Messages of a forked network, in arrays of the task's items: their legs, what they send, and the bandwidth that they
 * got so far by both ways of the first leg and both of the last, which is all that their links need to know. */
struct adapt_forks {
	uint32_t *first, *last, *units;
	float *ways[4];
	struct adapt_ends *ends; /* NULL if the middle is one link */
};

/* Messages of a task that have middle[0] in common: begin..begin+all-1, those that still ask in front. */
struct adapt_run {
	uint64_t begin;
	uint32_t asking, all, middle;
	uint32_t refused;   /* of those in front, how many found nothing in this iteration */
	uint32_t low, high; /* the numbers of their last legs: low..high */
};

typedef uint64_t adapt_pair __attribute__((vector_size(16))); /* of both ways of a leg */

/* Of both ways of a leg, the least over its links. */
struct adapt_leg {
	float left[2], share[2];
};

/* One chunk of one flow: what is handed to a thread. Items are numbered as in the chunk, or, if forked, by runs. */
struct adapt_task {
	unsigned flow;
	bool forked;
	const struct traffic_chunk *chunk;
	uint64_t items;
	float *got; /* per item: bandwidth allocated so far; NULL if forked */
	struct adapt_forks forks;
	struct adapt_run *runs;
	uint32_t nruns;
	uint16_t *last; /* per item: last iteration in which it got something */
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
	void *items; /* what the tasks keep of their items, one after the other */
	size_t items_bytes;
	struct adapt_cell **cells; /* [threads][links] */
	/* Where messages are many they meet at legs before they meet at links; else NULL. */
	struct adapt_leg *legs;		/* [net->legs], follow the cells while `dense` */
	adapt_pair **leg_sums;		/* [threads][net->legs] */
	uint8_t *leg_hops;		/* [net->legs] */
	bool dense;			/* the passes in work use legs */
	double *left;			/* [links], exact; follows the cells */
	struct adapt_history **history; /* [iterations][links]; NULL if all flows are forked */
	uint64_t forked;		/* messages of all forked flows */
	bool failed;			/* a thread had no memory */
	unsigned iterations;		/* done */
	unsigned exposure, turns;
	float cutoff;
	double scale[4]; /* of the sums, by pass */
	/* of the pass in work */
	enum adapt_pass pass;
	unsigned iteration, flow; /* flow: ADAPT_SPREAD and ADAPT_EVEN */
};

/* Do messages that found something in iteration `last` for the last time still ask in this one? */
static inline bool adapt_asks(const struct adapt *a, unsigned last, unsigned patience)
{
	return a->iteration < a->exposure || a->iteration <= last + (uint64_t)patience * a->turns;
}

/* Links that a leg crosses: both ways as many. */
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
