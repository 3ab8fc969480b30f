/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often an item draws paths. The paper draws paths for each message between two ranks. An item sums all messages
 * between two points, and is cut into as many equal pieces as it has messages. Each piece draws its own paths and gets
 * its own bandwidth. Pieces are equal because only the sum of the messages' bytes is known.
 *
 * Two limits make pieces fewer, the same number for all items that have more messages:
 *
 * - The load of links is known well enough. A link that n equal paths have crossed carries its expected load, give or
 *   take 1/sqrt(n) of it. The busiest of L links that are alike is then sqrt(2 ln L / n) of its load above the others
 *   (the expected maximum of L normal variables). That is ADAPT_DRAWS_ERROR for n = 2 ln L / error^2. P paths in each
 *   of f iterations, with up to h links each, cross a link f P h / L times.
 * - The work of an iteration is as much as the user wants: P is at most model_opts.work.
 *
 * Example: the paper's machine has L = 2,763,840 links, with f = 50 and h = 10. 5 % would need P = 66 million paths.
 * model_opts.work stands for 20 million, which by this rule gives 9 %. UMesh with RDG then has 27 pieces for each pair.
 */
#ifndef ZIP_MAPPER_ADAPT_DRAWS_H
#define ZIP_MAPPER_ADAPT_DRAWS_H

#include "mapper/base/rng.h"
#include "mapper/model/adapt_state.h"
#include "mapper/model/adapt_walk.h"

/* How far the busiest link may be above its expected load because paths are drawn at random. Links are not alike;
 * measured, the error is less than half of this: README.md. */
#define ADAPT_DRAWS_ERROR 0.05

/* Chooses turns, and the most pieces of an item. Both are the same for all flows. */
void adapt_draws_choose(struct adapt *, unsigned nflows);
/* The number of pieces of a task's items. */
uint64_t adapt_draws_count(const struct adapt *, const struct adapt_task *);
/* Fills in t->piece. */
void adapt_draws_cut(const struct adapt *, struct adapt_task *);

struct adapt_piece {
	uint64_t at; /* number in the task */
	double bytes;
};

/* A walk over the pieces of a task. */
struct adapt_draws {
	struct adapt_piece now;
	uint32_t src, dst;     /* points */
	uint64_t begin, after; /* the pieces of the present item: begin..after-1 */
	struct adapt_walk walk;
};

static inline void adapt_draws_begin(struct adapt_draws *w, const struct adapt *a, const struct adapt_task *t)
{
	w->begin = w->after = w->now.at = 0;
	adapt_walk_begin(&w->walk, a, t->chunk);
}

/* Moves on to the next piece. Returns false at the end. */
static inline bool adapt_draws_next(struct adapt_draws *w, const struct adapt *a, const struct adapt_task *t)
{
	uint64_t j;

	if (++w->now.at < w->after)
		return true;
	if (!adapt_walk_next(&w->walk, &j))
		return false;
	w->begin = w->now.at = t->piece ? t->piece[j] : j;
	w->after = t->piece ? t->piece[j + 1] : j + 1;
	w->src = t->chunk->first + w->walk.i;
	w->dst = t->chunk->items[j].dst;
	w->now.bytes = adapt_bytes(a, t, j) / (double)(w->after - w->begin);
	return true;
}

/* The random bits of the present piece. key: those of the iteration. */
static inline uint64_t adapt_draws_bits(const struct adapt_draws *w, uint64_t key)
{
	/* any odd number does; this one is not the step between the paths of one piece (routing.c) */
	return rng_mix(
		(key ^ ((uint64_t)w->src << 32 | w->dst)) + (w->now.at - w->begin) * UINT64_C(0xd1342543de82ef95));
}

#endif
