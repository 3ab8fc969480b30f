/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocation for messages that ask for all shortest paths of a forked network (net.h): way i of the first leg and
 * way j of the last make path (i, j). The four paths share their links, which are read and written once instead of four
 * times, and the paths never change: what each way of the legs got is kept, and bytes are spread in one pass.
 *
 * Messages are worked on in blocks. What is left on a message's ways is gathered from legs (where many messages share
 * them) or from links; arithmetic is done for all messages of a block at once, in arrays; then the sums are added.
 */
#include "adapt_impl.h"

/* The compiler makes one function of these for each of the cases that its constants make. */
#define FORCE inline __attribute__((always_inline))

struct block {
	uint32_t n;
	uint64_t at[ADAPT_LANES];			      /* item of the task */
	uint32_t middle[ADAPT_LANES];			      /* link */
	struct net_leg first[ADAPT_LANES], last[ADAPT_LANES]; /* unless dense */
	struct adapt_lanes lanes;
};

/* Where a walk over the runs of a task is. */
struct cursor {
	uint32_t run, item;
};

static FORCE float least(float a, float b)
{
	return a < b ? a : b;
}

/* --- which messages --- */

static void items_swap(struct adapt_task *t, uint64_t a, uint64_t b)
{
	struct adapt_fork fork = t->forks[a];
	struct adapt_ways ways = t->ways[a];
	uint16_t last = t->last[a];

	t->forks[a] = t->forks[b];
	t->ways[a] = t->ways[b];
	t->last[a] = t->last[b];
	t->forks[b] = fork;
	t->ways[b] = ways;
	t->last[b] = last;
	if (t->ends) {
		struct adapt_ends ends = t->ends[a];

		t->ends[a] = t->ends[b];
		t->ends[b] = ends;
	}
}

/* Messages of a run that ask no more go to its end. */
static void run_sift(const struct adapt *a, struct adapt_task *t, struct adapt_run *run)
{
	for (uint32_t i = 0; i < run->asking;)
		if (adapt_asks(a, t->last[run->begin + i], ADAPT_PATIENCE_FIXED))
			i++;
		else
			items_swap(t, run->begin + i, run->begin + --run->asking);
}

static void ahead_fetch(const struct adapt *a, const struct adapt_task *t, uint64_t j, unsigned worker)
{
	uint64_t end = j + 2 * ADAPT_LANES;

	for (j += ADAPT_LANES; j < end && j < t->items; j++) {
		__builtin_prefetch(&a->legs[t->forks[j].last]);
		__builtin_prefetch(&a->leg_sums[worker][t->forks[j].last], 1);
		__builtin_prefetch(&a->leg_sums[worker][t->forks[j].first], 1);
	}
}

/* The next messages that take part; b->n of them, 0 at the end. Where messages take turns they keep their places. */
static FORCE void block_fill(const struct adapt *a, struct adapt_task *t, struct cursor *c, struct block *b,
	enum adapt_pass pass)
{
	uint32_t turns = pass == ADAPT_EVEN ? 1 : a->turns, turn = a->iteration % turns, n = 0;

	while (c->run < t->nruns && n < ADAPT_LANES) {
		struct adapt_run *run = &t->runs[c->run];
		uint64_t j = run->begin + c->item;
		uint32_t more;

		if (pass == ADAPT_REQUEST && turns == 1 && !c->item && a->iteration > 1)
			run_sift(a, t, run);
		more = (pass == ADAPT_EVEN ? run->all : run->asking) - c->item;
		if (turns == 1 && more > ADAPT_LANES - n)
			more = ADAPT_LANES - n;
		c->item += more;
		if (turns == 1) {
			for (; more; more--) {
				b->middle[n] = run->middle;
				b->at[n++] = j++;
			}
		} else {
			for (; more && n < ADAPT_LANES; more--, j++)
				if (j % turns == turn && adapt_asks(a, t->last[j], ADAPT_PATIENCE_FIXED)) {
					b->middle[n] = run->middle;
					b->at[n++] = j;
				}
			c->item -= more;
		}
		if (c->item >= (pass == ADAPT_EVEN ? run->all : run->asking)) {
			c->run++;
			c->item = 0;
		}
	}
	b->n = n;
}

/* --- what is left --- */

static FORCE void lanes_legs(const struct adapt *a, const struct adapt_task *t, struct block *b, bool share)
{
	struct adapt_lanes *l = &b->lanes;

	for (uint32_t k = 0; k < b->n; k++) {
		const struct adapt_leg *first = &a->legs[t->forks[b->at[k]].first];
		const struct adapt_leg *last = &a->legs[t->forks[b->at[k]].last];

		for (int i = 0; i < 2; i++) {
			l->left.first[i][k] = first->left[i];
			l->left.last[i][k] = last->left[i];
			if (share) {
				l->share.first[i][k] = first->share[i];
				l->share.last[i][k] = last->share[i];
			}
		}
	}
}

static FORCE void lanes_links(const struct adapt_cell *cells, struct block *b, bool share)
{
#define LEAST(leg, i, what) least(cells[(leg).link[i][0]].what, cells[(leg).link[i][1]].what)
	struct adapt_lanes *l = &b->lanes;

	for (uint32_t k = 0; k < b->n; k++)
		for (int i = 0; i < 2; i++) {
			l->left.first[i][k] = LEAST(b->first[k], i, left);
			l->left.last[i][k] = LEAST(b->last[k], i, left);
			if (share) {
				l->share.first[i][k] = LEAST(b->first[k], i, share);
				l->share.last[i][k] = LEAST(b->last[k], i, share);
			}
		}
#undef LEAST
}

static FORCE void lanes_middle(const struct adapt_cell *cells, const struct adapt_task *t, struct block *b)
{
	struct adapt_lanes *l = &b->lanes;

	for (uint32_t k = 0; k < b->n; k++) {
		const struct adapt_cell *c = &cells[b->middle[k]];

		l->left.middle[k] = c->left;
		l->share.middle[k] = c->share;
		if (t->ends) {
			const struct adapt_cell *in = &cells[t->ends[b->at[k]].in];
			const struct adapt_cell *out = &cells[t->ends[b->at[k]].out];

			l->left.middle[k] = least(c->left, least(in->left, out->left));
			l->share.middle[k] = least(c->share, least(in->share, out->share));
		}
	}
}

static void links_fetch(const struct adapt *a, const struct adapt_cell *cells, const struct adapt_task *t,
	struct block *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		a->net->ops->legs_list(a->net, t->forks[b->at[k]].first, 1, &b->first[k]);
		a->net->ops->legs_list(a->net, t->forks[b->at[k]].last, 1, &b->last[k]);
		for (int i = 0; i < 4; i++) {
			__builtin_prefetch(&cells[b->first[k].link[i / 2][i % 2]], 1);
			__builtin_prefetch(&cells[b->last[k].link[i / 2][i % 2]], 1);
		}
		__builtin_prefetch(&cells[b->middle[k]], 1);
		if (t->ends) {
			__builtin_prefetch(&cells[t->ends[b->at[k]].in], 1);
			__builtin_prefetch(&cells[t->ends[b->at[k]].out], 1);
		}
	}
}

static FORCE void block_gather(const struct adapt *a, const struct adapt_cell *cells, const struct adapt_task *t,
	struct block *b, bool dense, bool share)
{
	double unit = (double)a->flows[t->flow].traffic->unit;

	for (uint32_t k = 0; k < b->n; k++)
		b->lanes.bytes[k] = (double)t->forks[b->at[k]].units * unit;
	if (dense)
		lanes_legs(a, t, b, share);
	else
		lanes_links(cells, b, share);
	lanes_middle(cells, t, b);
}

/* --- what is added --- */

static FORCE void block_add(struct adapt *a, struct adapt_cell *cells, const struct adapt_task *t,
	const struct block *b, bool dense, unsigned worker)
{
	uint64_t between = 0; /* of one link after the other in the middle: mostly many messages have the same */

	for (uint32_t k = 0; k < b->n; k++) {
		uint64_t through = b->lanes.sum[0][k] + b->lanes.sum[1][k];

		if (dense) {
			uint64_t *first = a->leg_sums[worker][t->forks[b->at[k]].first];
			uint64_t *last = a->leg_sums[worker][t->forks[b->at[k]].last];

			for (int i = 0; i < 2; i++) {
				first[i] += b->lanes.sum[i][k];
				last[i] += b->lanes.sum[2 + i][k];
			}
		} else {
			for (int i = 0; i < 4; i++) {
				cells[b->first[k].link[i / 2][i % 2]].sum += b->lanes.sum[i / 2][k];
				cells[b->last[k].link[i / 2][i % 2]].sum += b->lanes.sum[2 + i / 2][k];
			}
		}
		between += through;
		if (k + 1 == b->n || b->middle[k + 1] != b->middle[k]) {
			cells[b->middle[k]].sum += between;
			between = 0;
		}
		if (t->ends) {
			cells[t->ends[b->at[k]].in].sum += through;
			cells[t->ends[b->at[k]].out].sum += through;
		}
	}
}

static FORCE void block_keep(const struct adapt *a, struct adapt_task *t, const struct block *b)
{
	const struct adapt_lanes *l = &b->lanes;

	for (uint32_t k = 0; k < b->n; k++) {
		struct adapt_ways *w = &t->ways[b->at[k]];

		if (l->got[0][k] + l->got[1][k] <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			w->first[i] += l->got[i][k];
			w->last[i] += l->got[2 + i][k];
		}
		t->last[b->at[k]] = (uint16_t)a->iteration;
		t->found++;
	}
}

static uint32_t hops_count(const struct adapt *a, const struct adapt_task *t, const struct block *b, uint32_t k)
{
	uint32_t legs = a->dense
				? (uint32_t)a->leg_hops[t->forks[b->at[k]].first] + a->leg_hops[t->forks[b->at[k]].last]
				: adapt_leg_hops(a, &b->first[k]) + adapt_leg_hops(a, &b->last[k]);

	return legs + (a->net->link_class[b->middle[k]] != NET_NONE) + 2 * (t->ends != NULL);
}

/* In proportion to what it got; evenly if that is nothing. */
static void block_spread(const struct adapt *a, struct adapt_task *t, struct block *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		struct adapt_ways w = t->ways[b->at[k]];
		float first = w.first[0] + w.first[1], last = w.last[0] + w.last[1];

		if (first <= 0 || last <= 0) {
			w = (struct adapt_ways){{1, 1}, {1, 1}};
			first = last = 2;
			t->starved++;
		}
		b->lanes.got[0][k] = w.first[0] / first;
		b->lanes.got[1][k] = 1 - b->lanes.got[0][k];
		b->lanes.got[2][k] = w.last[0] / last;
		b->lanes.got[3][k] = 1 - b->lanes.got[2][k];
		t->hops += b->lanes.bytes[k] * hops_count(a, t, b, k);
	}
	adapt_lanes_bytes(&b->lanes, a->scale[ADAPT_SPREAD]);
}

/* --- a pass over a task --- */

static FORCE void forks_pass(struct adapt *a, struct adapt_task *t, unsigned worker, enum adapt_pass pass, bool dense,
	bool adaptive)
{
	struct adapt_cell *cells = a->cells[worker];
	struct cursor cursor = {0, 0};
	struct block b = {0};

	for (;;) {
		block_fill(a, t, &cursor, &b, pass);
		if (!b.n)
			break;
		if (dense)
			ahead_fetch(a, t, b.at[0], worker);
		else
			links_fetch(a, cells, t, &b);
		block_gather(a, cells, t, &b, dense, pass == ADAPT_ALLOCATE);
		if (pass == ADAPT_REQUEST) {
			adapt_lanes_request(&b.lanes, a->cutoff, adaptive);
			adapt_lanes_bytes(&b.lanes, a->scale[ADAPT_REQUEST]);
		} else if (pass == ADAPT_ALLOCATE) {
			adapt_lanes_allocate(&b.lanes, a->cutoff, adaptive);
			adapt_lanes_units(&b.lanes, a->scale[ADAPT_ALLOCATE]);
		} else {
			block_spread(a, t, &b);
		}
		block_add(a, cells, t, &b, dense, worker);
		if (pass == ADAPT_ALLOCATE)
			block_keep(a, t, &b);
	}
}

void adapt_forks_pass(struct adapt *a, struct adapt_task *t, unsigned worker)
{
	bool adaptive = a->flows[t->flow].routing->adaptive;

	if (a->pass == ADAPT_EVEN)
		forks_pass(a, t, worker, ADAPT_EVEN, a->dense, true);
	else if (a->pass == ADAPT_REQUEST && a->dense)
		forks_pass(a, t, worker, ADAPT_REQUEST, true, adaptive);
	else if (a->pass == ADAPT_REQUEST)
		forks_pass(a, t, worker, ADAPT_REQUEST, false, adaptive);
	else if (a->pass == ADAPT_ALLOCATE && a->dense)
		forks_pass(a, t, worker, ADAPT_ALLOCATE, true, adaptive);
	else if (a->pass == ADAPT_ALLOCATE)
		forks_pass(a, t, worker, ADAPT_ALLOCATE, false, adaptive);
}
