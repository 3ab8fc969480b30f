/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocation for messages whose paths are drawn. The work is random access to links, ten or twenty for each path.
 * Reading a link and adding to it share a cell, and so one cache line access. The cells of the next messages are
 * prefetched while those of this message are summed. */
#include "mapper/model/adapt_paths.h"
#include "mapper/model/adapt_walk.h"
#include "mapper/base/rng.h"

#define FETCHED 8 /* messages prefetched ahead: 8 x 40 links are about as many as the cache has miss buffers for */

/* Computes the weights of the paths: the bandwidth left on each path, relative to the sum; equal weights for routings
 * that are not adaptive. share: the least availability on each path. Returns the number of paths with bandwidth left;
 * if it is 0, weight is not set. */
static inline unsigned weigh(const struct adapt *a, const struct adapt_cell *cells, const struct path_set *p,
	bool adaptive, float *weight, float *share)
{
	const uint32_t *link = p->link;
	float sum = 0;
	unsigned open = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		float left = FLT_MAX, least = FLT_MAX;

		for (uint32_t h = 0; h < p->slots[k]; h++) {
			const struct adapt_cell *c = &cells[link[h]];

			left = c->left < left ? c->left : left;
			least = c->share < least ? c->share : least;
		}
		link += p->slots[k];
		/* FLT_MAX: a path without any link (one zipper node, seen from two networks), which needs no bandwidth
		 */
		weight[k] = left <= a->cutoff || left >= FLT_MAX ? 0 : adaptive ? left : 1;
		share[k] = least;
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
	const struct adapt_task *t, uint64_t j)
{
	double bytes = adapt_bytes(a, t, j) * a->scale[ADAPT_REQUEST];
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++])
		if (weight[k] > 0)
			path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)(bytes * (double)weight[k]));
}

/* The bandwidth that path k got: the same number in the passes ALLOCATE and SPREAD. */
static inline float path_got(const struct adapt *a, const struct adapt_task *t, uint64_t j, float weight, float share)
{
	return (float)(adapt_bytes(a, t, j) * (double)weight * (double)share);
}

static inline void message_allocate(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, uint64_t j)
{
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX], got = 0;
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		float g;

		if (weight[k] <= 0)
			continue;
		g = path_got(a, t, j, weight[k], share[k]);
		path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)((double)g * a->scale[ADAPT_ALLOCATE]));
		got += g;
	}
	if (got > 0) {
		t->got[j] += got;
		t->last[j] = (uint16_t)a->iteration;
		t->found++;
	}
}

static inline void message_spread(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, uint64_t j)
{
	double bytes = adapt_bytes(a, t, j);
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		double portion;

		if (weight[k] <= 0)
			continue;
		portion = bytes * (double)path_got(a, t, j, weight[k], share[k]) / (double)t->got[j];
		path_sum(cells, link, p->slots[k], (uint64_t)(int64_t)(portion * a->scale[ADAPT_SPREAD]));
		t->hops += portion * path_hops(cells, link, p->slots[k]);
	}
}

static inline void message_even(const struct adapt *a, struct adapt_cell *cells, const struct path_set *p,
	struct adapt_task *t, uint64_t j)
{
	double bytes = adapt_bytes(a, t, j);
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

/* Does item j take portion in this pass? */
static inline bool item_takes_part(const struct adapt *a, const struct adapt_task *t, uint64_t j, unsigned patience)
{
	switch (a->pass) {
	case ADAPT_REQUEST:
	case ADAPT_ALLOCATE:
		return adapt_asks(a, t->last[j], patience);
	case ADAPT_SPREAD:
		return a->iteration <= t->last[j] && t->got[j] > 0;
	case ADAPT_EVEN:
		return t->got[j] <= 0;
	}
	return false;
}

void adapt_paths_pass(struct adapt *a, struct adapt_task *t, unsigned worker)
{
	const struct traffic_chunk *c = t->chunk;
	const struct routing *r = a->flows[t->flow].routing;
	struct adapt_cell *cells = a->cells[worker];
	struct path_set sets[FETCHED];
	uint64_t which[FETCHED], key = rng_at(a->opts->seed, RNG_PATH, t->flow, r->fresh ? a->iteration : 0), j;
	unsigned patience = r->fresh ? a->opts->patience : ADAPT_PATIENCE_FIXED, n;
	struct adapt_walk walk;

	adapt_walk_begin(&walk, a, c);
	do {
		for (n = 0; n < FETCHED && adapt_walk_next(&walk, &j);) {
			struct path_set *p = &sets[n];
			const uint32_t *link = p->link;
			uint32_t slots = 0, s = c->first + walk.i, d = c->items[j].dst;

			if (!item_takes_part(a, t, j, patience))
				continue;
			which[n++] = j;
			p->n = 0;
			r->draw(a->net, a->opts, s, d, rng_mix(key ^ ((uint64_t)s << 32 | d)), p);
			for (uint32_t k = 0; k < p->n; k++)
				slots += p->slots[k];
			for (uint32_t h = 0; h < slots; h++)
				__builtin_prefetch(&cells[link[h]], 1);
		}
		for (unsigned b = 0; b < n; b++) {
			if (a->pass == ADAPT_REQUEST)
				message_request(a, cells, &sets[b], t, which[b]);
			else if (a->pass == ADAPT_ALLOCATE)
				message_allocate(a, cells, &sets[b], t, which[b]);
			else if (a->pass == ADAPT_SPREAD)
				message_spread(a, cells, &sets[b], t, which[b]);
			else
				message_even(a, cells, &sets[b], t, which[b]);
		}
	} while (n == FETCHED);
}
