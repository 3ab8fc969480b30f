/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts by a simple rule, and operations on all layouts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/map/map_layout.h"
#include "mapper/map/map_room.h"
#include "mapper/site/map_ways.h"

#define JOIN_SWEEPS 20 /* of choosing clusters: each choice may change another one */

int map_layout_create(struct map_layout *l, uint32_t n, struct zerr *err)
{
	*l = (struct map_layout){.n = n};
	l->node = malloc(n * sizeof(*l->node));
	l->cluster = calloc(n, sizeof(*l->cluster));
	if (l->node && l->cluster) {
		memset(l->node, 0xff, n * sizeof(*l->node));
		return 0;
	}
	map_layout_free(l);
	return zerr_set(err, -ENOMEM, "not enough memory for %u ranks", n);
}

int map_layout_copy(struct map_layout *l, const struct map_layout *from, struct zerr *err)
{
	int rc = map_layout_create(l, from->n, err);

	if (rc)
		return rc;
	memcpy(l->node, from->node, l->n * sizeof(*l->node));
	memcpy(l->cluster, from->cluster, l->n * sizeof(*l->cluster));
	return 0;
}

void map_layout_free(struct map_layout *l)
{
	free(l->node);
	free(l->cluster);
	*l = (struct map_layout){0};
}

/* --- room on nodes --- */

static bool room_fits(const struct map_room *r, uint32_t rank, uint32_t node)
{
	const uint32_t pin = r->p->rules->pin[rank];

	return (pin == MAP_NONE || pin == node) && map_room_fits(r, rank, node);
}

static void room_put(struct map_room *r, struct map_layout *l, uint32_t rank, uint32_t node)
{
	l->node[rank] = node;
	l->cluster[rank] = r->p->site->nodes[node].cluster;
	map_room_put(r, rank, node);
}

/* Places ranks with a rule: first pinned ranks, then ranks with needs. Most needs come first, because few nodes have
 * them all. Each rank gets the first node in order that fits; without `zippers`, no zipper node. */
static int ruled_place(struct map_room *r, struct map_layout *l, bool zippers, struct zerr *err)
{
	const struct map_site *s = r->p->site;
	const int pinned = (int)s->nfeatures + 1;

	for (int turn = pinned; turn > 0; turn--)
		for (uint32_t v = 0; v < l->n; v++) {
			uint32_t node = 0;

			if (l->node[v] != MAP_NONE || (r->p->rules->pin[v] != MAP_NONE) != (turn == pinned) ||
				(turn < pinned && __builtin_popcount(r->p->rules->need[v]) != turn))
				continue;
			while (node < s->nnodes &&
				(!room_fits(r, v, node) || (turn < pinned && !zippers && s->nodes[node].zipper)))
				node++;
			if (node == s->nnodes)
				return zerr_set(err, -ENOSPC, "no node for rank %u in this order", v);
			room_put(r, l, v, node);
		}
	return 0;
}

int map_layout_block(struct map_layout *l, const struct map_problem *p, struct zerr *err)
{
	struct map_room r;
	uint32_t node = 0;
	int rc = map_room_create(&r, p, err);

	if (!rc)
		rc = ruled_place(&r, l, true, err);
	for (uint32_t v = 0; v < l->n && !rc; v++) {
		if (l->node[v] != MAP_NONE)
			continue;
		while (node < p->site->nnodes && !r.free[node])
			node++;
		if (node == p->site->nnodes)
			rc = zerr_set(err, -ENOSPC, "no node for rank %u in this order", v);
		else
			room_put(&r, l, v, node);
	}
	map_room_free(&r);
	return rc;
}

/* Counts the free slots on each cluster's ordinary nodes. */
static uint64_t slots_count(const struct map_room *r, uint64_t *slots)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < r->p->site->nnodes; i++) {
		const struct map_node *n = &r->p->site->nodes[i];

		slots[n->cluster] += n->zipper ? 0 : r->free[i];
		all += n->zipper ? 0 : r->free[i];
	}
	return all;
}

/* Makes equal shares. Ranks beyond a cluster's room go to the other clusters. */
static void shares_make(uint64_t ranks, uint32_t nclusters, const uint64_t *slots, uint64_t *share)
{
	uint64_t level = 0, placed = 0;

	while (placed < ranks) {
		uint64_t open = 0, least = UINT64_MAX, step;

		for (uint32_t c = 0; c < nclusters; c++)
			if (slots[c] > level) {
				open++;
				least = slots[c] - level < least ? slots[c] - level : least;
			}
		step = (ranks - placed) / open;
		step = step < least ? step : least;
		for (uint32_t c = 0; c < nclusters; c++) {
			uint64_t more = slots[c] <= level ? 0 : step ? step : placed < ranks;

			share[c] += more;
			placed += more;
		}
		level += step ? step : 1;
	}
}

int map_layout_pairs(struct map_layout *l, const struct map_problem *p, struct zerr *err)
{
	const struct map_site *s = p->site;
	uint64_t slots[64] = {0}, share[64] = {0}, left = 0, all;
	uint32_t node = 0, cluster = 0;
	struct map_room r;
	int rc = map_room_create(&r, p, err);

	if (!rc)
		rc = ruled_place(&r, l, false, err);
	for (uint32_t v = 0; v < l->n; v++)
		left += l->node[v] == MAP_NONE;
	all = rc ? 0 : slots_count(&r, slots);
	if (!rc && left > all)
		rc = zerr_set(err, -ENOSPC, "%llu ranks, but %llu slots on nodes that are no zippers",
			(unsigned long long)left, (unsigned long long)all);
	if (!rc)
		shares_make(left, s->nclusters, slots, share);
	for (uint32_t v = 0; v < l->n && !rc; v++) {
		if (l->node[v] != MAP_NONE)
			continue;
		while (!share[cluster]) {
			cluster++;
			node = 0;
		}
		while (s->nodes[node].cluster != cluster || s->nodes[node].zipper || !r.free[node])
			node++;
		share[cluster]--;
		room_put(&r, l, v, node);
	}
	map_room_free(&r);
	return rc;
}

/* --- clusters --- */

/* The weight between a rank in that cluster's job and ranks in other jobs, multiplied by the number of forwards. */
static map_cost forwarded(const struct map_site *s, const uint64_t *with, uint32_t cluster)
{
	map_cost sum = 0;

	for (uint32_t c = 0; c < s->nclusters; c++)
		sum += (map_cost)with[c] * map_ways_hops(s, cluster, c);
	return sum;
}

void map_layout_join(struct map_layout *l, const struct map_problem *p)
{
	const struct map_graph *g = p->graph;
	const struct map_site *s = p->site;
	bool changed = true;

	for (uint32_t v = 0; v < l->n; v++)
		l->cluster[v] = s->nodes[l->node[v]].cluster;
	for (int sweep = 0; sweep < JOIN_SWEEPS && changed; sweep++) {
		changed = false;
		for (uint32_t v = 0; v < l->n; v++) {
			const struct map_node *node = &s->nodes[l->node[v]];
			uint64_t with[64] = {0};
			uint32_t best = l->cluster[v];
			map_cost least;

			if (!node->zipper)
				continue;
			for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
				with[l->cluster[g->adj[e]]] += g->weight[e];
			least = forwarded(s, with, best);
			for (uint32_t c = 0; c < s->nclusters; c++)
				if (node->fabrics >> c & 1 && forwarded(s, with, c) < least) {
					best = c;
					least = forwarded(s, with, c);
				}
			changed |= best != l->cluster[v];
			l->cluster[v] = best;
		}
	}
}

int map_layout_classes(const struct map_layout *l, const struct map_problem *p, uint8_t *class, struct zerr *err)
{
	struct map_layout copy = {0};
	struct map_room r;
	int rc = map_layout_create(&copy, l->n, err);

	if (rc)
		return rc;
	rc = map_room_create(&r, p, err);
	for (uint32_t v = 0; v < l->n && !rc; v++) {
		if (!room_fits(&r, v, l->node[v]))
			rc = zerr_set(err, -ENOSPC, "rank %u may not be on %s", v, p->site->nodes[l->node[v]].name);
		else
			room_put(&r, &copy, v, l->node[v]);
		class[v] = (uint8_t)p->site->nodes[l->node[v]].class;
	}
	map_room_free(&r);
	map_layout_free(&copy);
	return rc;
}

uint64_t map_layout_internode(const struct map_layout *l, const struct map_graph *g)
{
	uint64_t sum = 0;

	for (uint32_t v = 0; v < l->n; v++)
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			sum += l->node[v] != l->node[g->adj[e]] ? g->weight[e] : 0;
	return sum / 2;
}

map_cost map_layout_cost(const struct map_layout *l, const struct map_problem *p)
{
	const struct map_graph *g = p->graph;
	uint64_t bridged = 0, direct = 0;

	for (uint32_t v = 0; v < l->n; v++)
		for (uint64_t e = g->off[v]; e < g->off[v + 1] && g->adj[e] < v; e++) {
			uint64_t a = p->site->nodes[l->node[v]].fabrics, b = p->site->nodes[l->node[g->adj[e]]].fabrics;

			if (a != b) {
				unsigned far = map_ways_far(p->site, a, b);

				bridged += g->weight[e] * far;
				direct += far ? 0 : g->weight[e];
			}
		}
	return (map_cost)bridged << 64 | direct;
}
