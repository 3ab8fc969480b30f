/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocation for messages that ask for all shortest paths of a forked network (net.h). Way i of the first leg and
 * way j of the last leg make path (i, j). The four paths share their links, which are read and written once instead of
 * four times. The paths never change: the bandwidth of each way of the legs is kept, and bytes are spread in one pass.
 *
 * Messages are worked on in blocks. The bandwidth left on a message's ways is gathered from legs (where many messages
 * share them) or from links. The arithmetic is done for all messages of a block at once, in arrays. Then the sums are
 * added.
 */
#include "mapper/model/adapt_forks.h"
#include "mapper/model/adapt_batch.h"
#include "mapper/model/adapt_legs.h"

/* The compiler makes one function for each combination of the constants. */
#define FORCE inline __attribute__((always_inline))

#define LINE_LEGS 4u /* legs in a cache line of 64 bytes */

/* The messages in work: at..at+n-1 of the task, all in one run. */
struct block {
	uint64_t at;
	uint32_t n;
	struct net_leg first[ADAPT_BATCH], last[ADAPT_BATCH]; /* unless dense */
	struct adapt_batch batch;
};

static FORCE float least(float a, float b)
{
	return a < b ? a : b;
}

/* --- which messages --- */

#define SWAP(array, a, b)                                                                                              \
	do {                                                                                                           \
		__typeof__((array)[a]) swap = (array)[a];                                                              \
		(array)[a] = (array)[b];                                                                               \
		(array)[b] = swap;                                                                                     \
	} while (0)

static void items_swap(struct adapt_task *t, uint64_t a, uint64_t b)
{
	SWAP(t->last, a, b);
	SWAP(t->forks.first, a, b);
	SWAP(t->forks.last, a, b);
	SWAP(t->forks.units, a, b);
	for (int i = 0; i < 4; i++)
		SWAP(t->forks.ways[i], a, b);
	if (t->forks.ends)
		SWAP(t->forks.ends, a, b);
}

/* Moves messages of a run that ask no more to its end. It waits until there are many of them, because they find nothing
 * in any case. */
static void run_sift(const struct adapt *a, struct adapt_task *t, struct adapt_run *run)
{
	if (run->refused <= run->asking / 4)
		return;
	for (uint32_t i = 0; i < run->asking;)
		if (adapt_asks(a, t->last[run->begin + i], ADAPT_PATIENCE_FIXED))
			i++;
		else
			items_swap(t, run->begin + i, run->begin + --run->asking);
}

/* The number of messages of a run that take part. Where messages take turns, they keep their places. */
static FORCE uint32_t run_asking(const struct adapt *a, struct adapt_task *t, struct adapt_run *run,
	enum adapt_pass pass)
{
	if (pass == ADAPT_EVEN)
		return run->all;
	if (pass == ADAPT_REQUEST) {
		if (a->turns == 1 && a->iteration > 1)
			run_sift(a, t, run);
		run->refused = 0;
	}
	return run->asking;
}

/* Prefetches the last legs of a run: all legs from the lowest to the highest number, if that is less work than one by
 * one. */
static void run_fetch(const struct adapt *a, const struct adapt_task *t, const struct adapt_run *run, unsigned worker)
{
	const adapt_pair *sums = a->leg_sums[worker];

	if (run->high - run->low < LINE_LEGS * run->asking) {
		for (uint32_t leg = run->low; leg < run->high + LINE_LEGS; leg += LINE_LEGS) {
			__builtin_prefetch(&a->legs[leg]);
			__builtin_prefetch(&sums[leg], 1);
		}
		return;
	}
	for (uint64_t j = run->begin; j < run->begin + run->asking; j++) {
		__builtin_prefetch(&a->legs[t->forks.last[j]]);
		__builtin_prefetch(&sums[t->forks.last[j]], 1);
	}
}

/* The units that the messages of a block send: 0 for a message whose turn it is not. */
static FORCE void block_units(const struct adapt *a, const struct adapt_task *t, struct block *b, enum adapt_pass pass)
{
	uint32_t turns = pass == ADAPT_EVEN ? 1 : a->turns, n = (b->n + ADAPT_VECTOR - 1) / ADAPT_VECTOR * ADAPT_VECTOR;

	for (uint32_t k = 0; k < b->n; k++)
		b->batch.units[k] = t->forks.units[b->at + k];
	for (uint32_t k = b->n; k < n; k++)
		b->batch.units[k] = 0;
	for (uint32_t k = 0; k < b->n && turns > 1; k++)
		if ((b->at + k) % turns != a->iteration % turns ||
			!adapt_asks(a, t->last[b->at + k], ADAPT_PATIENCE_FIXED))
			b->batch.units[k] = 0;
}

/* --- what is left --- */

static FORCE void batch_set(struct adapt_batch *l, uint32_t k, const struct adapt_leg *first,
	const struct adapt_leg *last, bool share)
{
	for (int i = 0; i < 2; i++) {
		l->left.first[i][k] = first->left[i];
		l->left.last[i][k] = last->left[i];
		if (share) {
			l->share.first[i][k] = first->share[i];
			l->share.last[i][k] = last->share[i];
		}
	}
}

static FORCE void batch_legs(const struct adapt *a, const struct adapt_task *t, struct block *b, bool share)
{
	const uint32_t *first = t->forks.first + b->at, *last = t->forks.last + b->at;
	const struct adapt_leg *legs = a->legs;

	for (uint32_t k = 0; k < b->n; k++)
		batch_set(&b->batch, k, &legs[first[k]], &legs[last[k]], share);
}

static FORCE struct adapt_leg leg_least(const struct adapt_cell *cells, const struct net_leg *leg)
{
	struct adapt_leg l;

	for (int i = 0; i < 2; i++) {
		const struct adapt_cell *x = &cells[leg->link[i][0]], *y = &cells[leg->link[i][1]];

		l.left[i] = least(x->left, y->left);
		l.share[i] = least(x->share, y->share);
	}
	return l;
}

static FORCE void batch_links(const struct adapt_cell *cells, struct block *b, bool share)
{
	for (uint32_t k = 0; k < b->n; k++) {
		struct adapt_leg first = leg_least(cells, &b->first[k]), last = leg_least(cells, &b->last[k]);

		batch_set(&b->batch, k, &first, &last, share);
	}
}

static FORCE void batch_middle(const struct adapt_cell *cells, const struct adapt_task *t, uint32_t middle,
	struct block *b)
{
	const struct adapt_cell *c = &cells[middle];

	for (uint32_t k = 0; k < b->n; k++) {
		b->batch.left.middle[k] = c->left;
		b->batch.share.middle[k] = c->share;
	}
	for (uint32_t k = 0; k < b->n && t->forks.ends; k++) {
		const struct adapt_cell *in = &cells[t->forks.ends[b->at + k].in];
		const struct adapt_cell *out = &cells[t->forks.ends[b->at + k].out];

		b->batch.left.middle[k] = least(c->left, least(in->left, out->left));
		b->batch.share.middle[k] = least(c->share, least(in->share, out->share));
	}
}

static void links_fetch(const struct adapt *a, const struct adapt_cell *cells, const struct adapt_task *t,
	struct block *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		a->net->ops->legs_list(a->net, t->forks.first[b->at + k], 1, &b->first[k]);
		a->net->ops->legs_list(a->net, t->forks.last[b->at + k], 1, &b->last[k]);
		for (int i = 0; i < 4; i++) {
			__builtin_prefetch(&cells[b->first[k].link[i / 2][i % 2]], 1);
			__builtin_prefetch(&cells[b->last[k].link[i / 2][i % 2]], 1);
		}
		if (t->forks.ends) {
			__builtin_prefetch(&cells[t->forks.ends[b->at + k].in], 1);
			__builtin_prefetch(&cells[t->forks.ends[b->at + k].out], 1);
		}
	}
}

/* --- what is added --- */

static FORCE void block_add(struct adapt *a, struct adapt_cell *cells, const struct adapt_task *t, uint32_t middle,
	const struct block *b, bool dense, unsigned worker)
{
	adapt_pair *sums = dense ? a->leg_sums[worker] : NULL, through = {0, 0};

	for (uint32_t k = 0; k < b->n; k++) {
		const struct adapt_batch *l = &b->batch;
		adapt_pair sum[2] = {{l->sum[0][k], l->sum[1][k]}, {l->sum[2][k], l->sum[3][k]}};

		through += sum[0];
		if (dense) {
			sums[t->forks.first[b->at + k]] += sum[0];
			sums[t->forks.last[b->at + k]] += sum[1];
		} else {
			for (int i = 0; i < 4; i++) {
				cells[b->first[k].link[i / 2][i % 2]].sum += sum[0][i / 2];
				cells[b->last[k].link[i / 2][i % 2]].sum += sum[1][i / 2];
			}
		}
		if (t->forks.ends) {
			cells[t->forks.ends[b->at + k].in].sum += sum[0][0] + sum[0][1];
			cells[t->forks.ends[b->at + k].out].sum += sum[0][0] + sum[0][1];
		}
	}
	cells[middle].sum += through[0] + through[1];
}

static double hops_sum(const struct adapt *a, const struct adapt_task *t, uint32_t middle, const struct block *b)
{
	uint32_t more = (a->net->link_class[middle] != NET_NONE) + 2 * (t->forks.ends != NULL);
	double hops = 0;

	for (uint32_t k = 0; k < b->n; k++) {
		uint64_t j = b->at + k;
		uint32_t legs = a->dense ? (uint32_t)a->leg_hops[t->forks.first[j]] + a->leg_hops[t->forks.last[j]]
					 : adapt_leg_hops(a, &b->first[k]) + adapt_leg_hops(a, &b->last[k]);

		hops += (double)b->batch.units[k] * (legs + more);
	}
	return hops;
}

/* --- a pass over a task --- */

static FORCE void block_pass(struct adapt *a, struct adapt_task *t, struct adapt_run *run, struct block *b,
	const struct adapt_rule *rule, unsigned worker, enum adapt_pass pass, bool dense)
{
	struct adapt_cell *cells = a->cells[worker];
	uint32_t found;

	if (!dense)
		links_fetch(a, cells, t, b);
	block_units(a, t, b, pass);
	if (pass == ADAPT_EVEN) {
		t->starved += adapt_batch_spread(&b->batch, b->n, rule, t, b->at);
		t->hops += hops_sum(a, t, run->middle, b) * rule->unit;
		block_add(a, cells, t, run->middle, b, dense, worker);
		return;
	}
	if (dense)
		batch_legs(a, t, b, pass == ADAPT_ALLOCATE);
	else
		batch_links(cells, b, pass == ADAPT_ALLOCATE);
	batch_middle(cells, t, run->middle, b);
	if (pass == ADAPT_REQUEST)
		adapt_batch_request(&b->batch, b->n, rule);
	else
		adapt_batch_allocate(&b->batch, b->n, rule);
	block_add(a, cells, t, run->middle, b, dense, worker);
	if (pass == ADAPT_REQUEST)
		return;
	found = adapt_batch_keep(&b->batch, b->n, t, b->at, a->iteration);
	run->refused += b->n - found;
	t->found += found;
}

static FORCE void forks_pass(struct adapt *a, struct adapt_task *t, unsigned worker, enum adapt_pass pass, bool dense)
{
	const struct adapt_rule rule = {
		.unit = (double)a->flows[t->flow].traffic->unit,
		.scale = a->scale[pass],
		.cutoff = a->cutoff,
		.adaptive = a->flows[t->flow].routing->adaptive,
	};
	struct block b = {0};

	for (uint32_t r = 0; r < t->nruns; r++) {
		uint32_t asking = run_asking(a, t, &t->runs[r], pass);

		if (dense && r + 1 < t->nruns)
			run_fetch(a, t, &t->runs[r + 1], worker);
		for (uint32_t i = 0; i < asking; i += b.n) {
			b.at = t->runs[r].begin + i;
			b.n = asking - i < ADAPT_BATCH ? asking - i : ADAPT_BATCH;
			block_pass(a, t, &t->runs[r], &b, &rule, worker, pass, dense);
		}
	}
}

void adapt_forks_pass(struct adapt *a, struct adapt_task *t, unsigned worker)
{
	if (a->pass == ADAPT_EVEN)
		forks_pass(a, t, worker, ADAPT_EVEN, a->dense);
	else if (a->pass == ADAPT_REQUEST && a->dense)
		forks_pass(a, t, worker, ADAPT_REQUEST, true);
	else if (a->pass == ADAPT_REQUEST)
		forks_pass(a, t, worker, ADAPT_REQUEST, false);
	else if (a->pass == ADAPT_ALLOCATE && a->dense)
		forks_pass(a, t, worker, ADAPT_ALLOCATE, true);
	else if (a->pass == ADAPT_ALLOCATE)
		forks_pass(a, t, worker, ADAPT_ALLOCATE, false);
}
