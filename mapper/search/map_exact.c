/* SPDX-License-Identifier: BSD-3-Clause */
/* Branch and bound over the classes of a few ranks, see map_exact.h. The bound: the cost among the ranks that have
 * classes, plus the least cost of every other rank with these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_exact.h"

#define MAX MAP_EXACT_RANKS_MAX

struct exact {
	const struct map_state *state;
	const struct map_site *site;
	uint32_t n, k;
	uint32_t order[MAX]; /* ranks, in the order in which they get their classes */
	uint64_t weight[MAX][MAX];
	map_cost *price; /* [n * k]: cost of a rank in a class, with the ranks that have classes */
	uint8_t class[MAX];
	uint32_t load[MAP_CLASSES_MAX], needing[MAP_CLASSES_MAX][MAP_FEATURES_MAX];
	uint64_t work; /* prices that may still be looked at */
	uint8_t *best;
	map_cost *least;
	bool *any;
};

static bool has_room(const struct exact *x, uint32_t rank, uint32_t class)
{
	const struct map_rules *rules = x->state->p->rules;

	if (x->load[class] >= x->site->classes[class].slots || !map_rules_allow(rules, x->site, rank, class))
		return false;
	for (uint32_t f = 0; f < x->site->nfeatures; f++)
		if (rules->need[rank] >> f & 1 && x->needing[class][f] >= x->site->classes[class].limit[f])
			return false;
	return true;
}

/* The least cost of the ranks from order[depth] on; -1: one of them has no place. */
static map_cost rest_least(const struct exact *x, uint32_t depth)
{
	map_cost sum = 0;

	for (uint32_t i = depth; i < x->n; i++) {
		map_cost least = -1;

		for (uint32_t c = 0; c < x->k; c++) {
			map_cost price = x->price[x->order[i] * x->k + c];

			if ((least < 0 || price < least) && has_room(x, x->order[i], c))
				least = price;
		}
		if (least < 0)
			return -1;
		sum += least;
	}
	return sum;
}

/* Puts order[depth] into a class, or takes it out again. */
static void rank_place(struct exact *x, uint32_t depth, uint32_t class, bool leave)
{
	const uint8_t *far = x->site->far + (size_t) class * x->k, *near = x->state->near + (size_t) class * x->k;
	uint32_t v = x->order[depth];

	x->class[v] = (uint8_t) class;
	x->load[class] += leave ? UINT32_MAX : 1;
	for (uint32_t f = 0; f < x->site->nfeatures; f++)
		if (x->state->p->rules->need[v] >> f & 1)
			x->needing[class][f] += leave ? UINT32_MAX : 1;
	for (uint32_t i = depth + 1; i < x->n; i++) {
		uint32_t u = x->order[i];
		uint64_t w = x->weight[v][u];

		for (uint32_t c = 0; c < x->k && w; c++) {
			map_cost cost = ((map_cost)(w * far[c]) << 64) + w * near[c];

			x->price[u * x->k + c] += leave ? -cost : cost;
		}
	}
}

/* The class of least price that has room and was not tried yet; MAP_NONE: there is none. */
static uint32_t class_next(const struct exact *x, uint32_t rank, const bool *tried)
{
	const map_cost *price = x->price + (size_t)rank * x->k;
	uint32_t best = MAP_NONE;

	for (uint32_t c = 0; c < x->k; c++)
		if (!tried[c] && (best == MAP_NONE || price[c] < price[best]) && has_room(x, rank, c))
			best = c;
	return best;
}

/* Searches on where the ranks before depth have their classes, at this cost. */
static void tree_search(struct exact *x, uint32_t depth, map_cost cost)
{
	bool tried[MAP_CLASSES_MAX] = {false};
	const uint64_t looked = (uint64_t)(x->n - depth) * x->k;
	uint32_t v, c;

	if (depth == x->n) {
		memcpy(x->best, x->class, x->n);
		*x->least = cost;
		*x->any = true;
		return;
	}
	v = x->order[depth];
	while (x->work && (c = class_next(x, v, tried)) != MAP_NONE) {
		map_cost with = cost + x->price[v * x->k + c], rest;

		tried[c] = true;
		x->work -= x->work < looked ? x->work : looked;
		rank_place(x, depth, c, false);
		rest = rest_least(x, depth + 1);
		if (rest >= 0 && (!*x->any || with + rest < *x->least))
			tree_search(x, depth + 1, with);
		rank_place(x, depth, c, true);
	}
}

/* Heavy ranks come first: their cost is known early. */
static void order_make(struct exact *x)
{
	const struct map_graph *g = x->state->p->graph;
	uint64_t sum[MAX] = {0};

	for (uint32_t v = 0; v < x->n; v++) {
		uint32_t at = v;

		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
			x->weight[v][g->adj[e]] = g->weight[e];
			sum[v] += g->weight[e];
		}
		for (; at && sum[x->order[at - 1]] < sum[v]; at--)
			x->order[at] = x->order[at - 1];
		x->order[at] = v;
	}
}

int map_exact_search(const struct map_state *state, uint64_t work, uint8_t *class, map_cost *least, bool *any,
	struct zerr *err)
{
	struct exact x = {.state = state, .site = state->p->site, .n = state->n, .k = state->k, .work = work};

	x.best = class;
	x.least = least;
	x.any = any;
	x.price = calloc((size_t)x.n * x.k, sizeof(*x.price));
	if (!x.price)
		return zerr_set(err, -ENOMEM, "not enough memory");
	order_make(&x);
	tree_search(&x, 0, 0);
	free(x.price);
	return x.work ? 0 : 1;
}
