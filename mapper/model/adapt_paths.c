/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocation for messages whose paths are drawn. The work is random access to links, ten or twenty for each path.
 * Reading a link and adding to it share a cell, and so one cache line access. The cells of the next messages are
 * prefetched while those of this message are summed. */
#include "mapper/model/adapt_paths.h"
#include "mapper/model/adapt_draws.h"
#include "mapper/model/adapt_walk.h"
#include "mapper/base/rng.h"

#define FETCHED 8 /* messages prefetched ahead: 8 x 40 links are about as many as the cache has miss buffers for */

/* The least bandwidth left, and the least availability, on the links of a path that the routing looks at. */
static inline __attribute__((always_inline)) void path_look(const struct adapt *a, const struct adapt_cell *cells,
	const uint32_t *link, uint32_t slots, bool local, float *left, float *share)
{
	*left = *share = FLT_MAX;
	for (uint32_t h = local ? a->net->own_slot : 0; h < slots; h++) {
		const struct adapt_cell *c = &cells[link[h]];

		*left = c->left < *left ? c->left : *left;
		*share = c->share < *share ? c->share : *share;
		if (local && *left < FLT_MAX)
			break;
	}
}

/* Computes the weights of the paths: the bandwidth left on each path, relative to the sum; equal weights for routings
 * that are not adaptive. share: the least availability on each path. Returns the number of paths with bandwidth left;
 * if it is 0, weight is not set. */
static inline unsigned weigh(const struct adapt *a, const struct adapt_cell *cells, const struct path_set *p,
	const struct routing *r, float *weight, float *share)
{
	const uint32_t *link = p->link;
	float sum = 0;
	unsigned open = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		float left;

		if (r->local)
			path_look(a, cells, link, p->slots[k], true, &left, &share[k]);
		else
			path_look(a, cells, link, p->slots[k], false, &left, &share[k]);
		link += p->slots[k];
		/* FLT_MAX: a path without any link (one zipper node, seen from two networks), which needs no bandwidth
		 */
		weight[k] = left <= a->cutoff || left >= FLT_MAX ? 0 : r->adaptive ? left : 1;
		sum += weight[k];
		open += weight[k] > 0;
	}
	for (uint32_t k = 0; k < p->n && open; k++)
		weight[k] /= sum;
	return open;
}

static inline void path_sum(struct adapt_cell *cells, const uint32_t *link, uint32_t slots, uint64_t value)
{
	for (uint32_t h = 0; h < slots; h++)
		cells[link[h]].sum += value;
}

/* Counts links that are not void. The availability of void links is FLT_MAX (links_share()); that of other links is
 * always less. */
static inline uint32_t path_hops(const struct adapt_cell *cells, const uint32_t *link, uint32_t slots)
{
	uint32_t hops = 0;

	for (uint32_t h = 0; h < slots; h++)
		hops += cells[link[h]].share < FLT_MAX;
	return hops;
}

static inline void message_request(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	const struct adapt_task *t, struct adapt_piece j)
{
	double bytes = j.bytes * a->scale[ADAPT_REQUEST];
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++])
		if (weight[k] > 0)
			path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)(bytes * (double)weight[k]));
}

/* The bandwidth that path k got: the same number in the passes ALLOCATE and SPREAD. */
static inline float path_got(struct adapt_piece j, float weight, float share)
{
	return (float)(j.bytes * (double)weight * (double)share);
}

static inline void message_allocate(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, struct adapt_piece j)
{
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX], got = 0;
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		float g;

		if (weight[k] <= 0)
			continue;
		g = path_got(j, weight[k], share[k]);
		path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)((double)g * a->scale[ADAPT_ALLOCATE]));
		got += g;
	}
	if (got > 0) {
		t->got[j.at] += got;
		t->last[j.at] = (uint16_t)a->iteration;
		t->found++;
	}
}

static inline void message_spread(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, struct adapt_piece j)
{
	double bytes = j.bytes;
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		double portion;

		if (weight[k] <= 0)
			continue;
		portion = bytes * (double)path_got(j, weight[k], share[k]) / (double)t->got[j.at];
		path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)(portion * a->scale[ADAPT_SPREAD]));
		t->hops += portion * path_hops(cells, link, p->slots[k]);
	}
}

static inline void message_even(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, struct adapt_piece j)
{
	double bytes = j.bytes;
	const uint32_t *link = p->link;
	uint32_t all = 0;

	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		uint32_t hops = path_hops(cells, link, p->slots[k]);

		path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)(bytes / p->n * a->scale[ADAPT_SPREAD]));
		t->hops += bytes / p->n * hops;
		all += hops;
	}
	t->starved += all > 0; /* a message that crosses no link has asked for nothing */
}

/* --- a pass over a chunk --- */

/* Does a piece take part in this pass? */
static inline bool piece_takes_part(const struct adapt *a, const struct adapt_task *t, uint64_t at, unsigned patience)
{
	switch (a->pass) {
	case ADAPT_REQUEST:
	case ADAPT_ALLOCATE:
		return adapt_asks(a, t->last[at], patience);
	case ADAPT_SPREAD:
		return a->iteration <= t->last[at] && t->got[at] > 0;
	case ADAPT_EVEN:
		return t->got[at] <= 0;
	}
	return false;
}

static inline void links_prefetch(struct adapt_cell *cells, const struct path_set *p)
{
	uint32_t slots = 0;

	for (uint32_t k = 0; k < p->n; k++)
		slots += p->slots[k];
	for (uint32_t h = 0; h < slots; h++)
		__builtin_prefetch(&cells[p->link[h]], 1);
}

static inline void piece_work(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, struct adapt_piece j)
{
	if (a->pass == ADAPT_REQUEST)
		message_request(a, cells, p, t, j);
	else if (a->pass == ADAPT_ALLOCATE)
		message_allocate(a, cells, p, t, j);
	else if (a->pass == ADAPT_SPREAD)
		message_spread(a, cells, p, t, j);
	else
		message_even(a, cells, p, t, j);
}

void adapt_paths_pass(struct adapt *a, struct adapt_task *t, unsigned worker)
{
	const struct routing *r = a->flows[t->flow].routing;
	struct adapt_cell *cells = a->cells[worker];
	struct path_set sets[FETCHED];
	struct adapt_piece which[FETCHED];
	uint64_t key = rng_at(a->opts->seed, RNG_PATH, t->flow, r->fresh ? a->iteration : 0);
	unsigned patience = r->fresh ? a->opts->patience : ADAPT_PATIENCE_FIXED, n;
	struct adapt_draws draws;

	adapt_draws_begin(&draws, a, t);
	do {
		for (n = 0; n < FETCHED && adapt_draws_next(&draws, a, t);) {
			struct path_set *p = &sets[n];

			if (!piece_takes_part(a, t, draws.now.at, patience))
				continue;
			which[n++] = draws.now;
			p->n = 0;
			r->draw(a->net, a->opts, draws.src, draws.dst, adapt_draws_bits(&draws, key), p);
			links_prefetch(cells, p);
		}
		for (unsigned b = 0; b < n; b++)
			piece_work(a, cells, &sets[b], t, which[b]);
	} while (n == FETCHED);
}
