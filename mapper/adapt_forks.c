/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocation for messages that ask for all shortest paths of a forked network (net.h): beginning i and end j make
 * path (i, j). The four paths share their links, which are read and written once instead of four times, and the paths
 * never change: what each beginning and each end got is kept, and bytes are spread in one pass.
 */
#include "adapt_impl.h"

/* The compiler keeps these small arrays in registers if it puts all in one function. */
#define FORCE inline __attribute__((always_inline))

/* A number for each path (i, j). */
struct paths {
	float v[2][2];
};

/* What is to be added to the links of a fork. */
struct parts {
	float first[2], last[2];
};

static FORCE float least(float a, float b)
{
	return a < b ? a : b;
}

/* The least of what is left, or of the availability, on each path. */
static FORCE struct paths fork_least(const struct adapt_cell *cells, const struct net_fork *f, uint32_t middle,
	bool share)
{
#define OF(link) (share ? cells[link].share : cells[link].left)
	float first[2], last[2], between = OF(f->middle[0]);
	struct paths p;

	for (uint32_t m = 1; m < middle; m++)
		between = least(between, OF(f->middle[m]));
	for (int i = 0; i < 2; i++) {
		first[i] = least(least(OF(f->first[i][0]), OF(f->first[i][1])), between);
		last[i] = least(OF(f->last[i][0]), OF(f->last[i][1]));
	}
#undef OF
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			p.v[i][j] = least(first[i], last[j]);
	return p;
}

/* The weights of the paths, see adapt.h; all 0 if no path has anything left. */
static FORCE struct paths fork_weigh(const struct adapt *a, const struct adapt_cell *cells, const struct net_fork *f,
	uint32_t middle, bool adaptive)
{
	struct paths p = fork_least(cells, f, middle, false);
	float sum = 0;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			p.v[i][j] = p.v[i][j] <= a->cutoff ? 0 : adaptive ? p.v[i][j] : 1;
			sum += p.v[i][j];
		}
	sum = sum > 0 ? 1 / sum : 0;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			p.v[i][j] *= sum;
	return p;
}

static FORCE struct parts fork_parts(struct paths p)
{
	return (struct parts){ { p.v[0][0] + p.v[0][1], p.v[1][0] + p.v[1][1] },
		{ p.v[0][0] + p.v[1][0], p.v[0][1] + p.v[1][1] } };
}

/* What passes the middle is what the beginnings add, so that integers add up. */
static FORCE void fork_add(struct adapt_cell *cells, const struct net_fork *f, uint32_t middle, struct parts p,
	double scale)
{
	uint64_t all = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t first = (uint64_t)(int64_t)((double)p.first[i] * scale);
		uint64_t last = (uint64_t)(int64_t)((double)p.last[i] * scale);

		all += first;
		cells[f->first[i][0]].sum += first;
		cells[f->first[i][1]].sum += first;
		cells[f->last[i][0]].sum += last;
		cells[f->last[i][1]].sum += last;
	}
	for (uint32_t m = 0; m < middle; m++)
		cells[f->middle[m]].sum += all;
}

static FORCE void fork_request(const struct adapt *a, struct adapt_cell *cells, const struct net_fork *f,
	uint32_t middle, bool adaptive, const struct adapt_task *t, uint64_t j)
{
	struct paths p = fork_weigh(a, cells, f, middle, adaptive);

	fork_add(cells, f, middle, fork_parts(p), adapt_bytes(a, t, j) * a->scale[ADAPT_REQUEST]);
}

static FORCE void fork_allocate(const struct adapt *a, struct adapt_cell *cells, const struct net_fork *f,
	uint32_t middle, bool adaptive, struct adapt_task *t, uint64_t j)
{
	struct paths p = fork_weigh(a, cells, f, middle, adaptive), share = fork_least(cells, f, middle, true);
	float bytes = (float)adapt_bytes(a, t, j);
	struct adapt_ways *w = &t->ways[j];
	struct parts got;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			p.v[i][k] *= bytes * share.v[i][k];
	got = fork_parts(p);
	if (got.first[0] + got.first[1] <= 0)
		return;
	fork_add(cells, f, middle, got, a->scale[ADAPT_ALLOCATE]);
	for (int i = 0; i < 2; i++) {
		w->first[i] += got.first[i];
		w->last[i] += got.last[i];
	}
	t->last[j] = (uint16_t)a->iteration;
	t->found++;
}

static FORCE uint32_t link_crossed(const struct adapt_cell *cells, uint32_t link)
{
	return cells[link].share < FLT_MAX;
}

/* In proportion to what it got; evenly if that is nothing. */
static FORCE void fork_spread(const struct adapt *a, struct adapt_cell *cells, const struct net_fork *f,
	uint32_t middle, struct adapt_task *t, uint64_t j)
{
	struct adapt_ways w = t->ways[j];
	double bytes = adapt_bytes(a, t, j), hops = 0;
	struct parts p;

	if (w.first[0] + w.first[1] <= 0 || w.last[0] + w.last[1] <= 0) {
		w = (struct adapt_ways){ { 1, 1 }, { 1, 1 } };
		t->starved++;
	}
	p.first[0] = w.first[0] / (w.first[0] + w.first[1]);
	p.last[0] = w.last[0] / (w.last[0] + w.last[1]);
	p.first[1] = 1 - p.first[0];
	p.last[1] = 1 - p.last[0];
	fork_add(cells, f, middle, p, bytes * a->scale[ADAPT_SPREAD]);
	for (int i = 0; i < 2; i++)
		for (int h = 0; h < 2; h++)
			hops += (double)p.first[i] * link_crossed(cells, f->first[i][h]) +
				(double)p.last[i] * link_crossed(cells, f->last[i][h]);
	for (uint32_t m = 0; m < middle; m++)
		hops += link_crossed(cells, f->middle[m]);
	t->hops += bytes * hops;
}

static FORCE void fork_prefetch(const struct adapt_cell *cells, const struct net_fork *f, uint32_t middle)
{
	for (int i = 0; i < 2; i++)
		for (int h = 0; h < 2; h++) {
			__builtin_prefetch(&cells[f->first[i][h]], 1);
			__builtin_prefetch(&cells[f->last[i][h]], 1);
		}
	for (uint32_t m = 0; m < middle; m++)
		__builtin_prefetch(&cells[f->middle[m]], 1);
}

/* Written once, compiled for each of the cases that its constants make. */
static FORCE void forks_pass(struct adapt *a, struct adapt_task *t, struct adapt_cell *cells, uint32_t middle,
	bool adaptive, enum adapt_pass pass)
{
	const struct traffic_chunk *c = t->chunk;
	const struct net *net = a->net;
	struct net_fork forks[ADAPT_BLOCK];
	uint64_t which[ADAPT_BLOCK], j;
	struct adapt_walk walk;
	unsigned n;

	adapt_walk_begin(&walk, a, c);
	do {
		for (n = 0; n < ADAPT_BLOCK && adapt_walk_next(&walk, &j);) {
			__builtin_prefetch(&t->last[j + ADAPT_AHEAD], 1);
			if (pass != ADAPT_REQUEST)
				__builtin_prefetch(&t->ways[j + ADAPT_AHEAD / 2], 1);
			if (pass != ADAPT_EVEN && !adapt_asks(a, t->last[j], ADAPT_PATIENCE_FIXED))
				continue;
			net->ops->fork(net, c->first + walk.i, c->items[j].dst, &forks[n]);
			fork_prefetch(cells, &forks[n], middle);
			which[n++] = j;
		}
		for (unsigned b = 0; b < n; b++) {
			if (pass == ADAPT_REQUEST)
				fork_request(a, cells, &forks[b], middle, adaptive, t, which[b]);
			else if (pass == ADAPT_ALLOCATE)
				fork_allocate(a, cells, &forks[b], middle, adaptive, t, which[b]);
			else
				fork_spread(a, cells, &forks[b], middle, t, which[b]);
		}
	} while (n == ADAPT_BLOCK);
}

void adapt_forks_pass(struct adapt *a, struct adapt_task *t, unsigned worker)
{
	struct adapt_cell *cells = a->cells[worker];
	uint32_t middle = a->net->forked;
	bool adaptive = a->flows[t->flow].routing->adaptive;

	if (a->pass == ADAPT_EVEN)
		forks_pass(a, t, cells, middle, true, ADAPT_EVEN);
	else if (middle == 1 && adaptive && a->pass == ADAPT_REQUEST)
		forks_pass(a, t, cells, 1, true, ADAPT_REQUEST);
	else if (middle == 1 && adaptive && a->pass == ADAPT_ALLOCATE)
		forks_pass(a, t, cells, 1, true, ADAPT_ALLOCATE);
	else if (a->pass != ADAPT_SPREAD)
		forks_pass(a, t, cells, middle, adaptive, a->pass);
}
