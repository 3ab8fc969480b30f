/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of a search by METIS and by growing, see map_start.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_metis.h"
#include "mapper/search/map_start.h"
#include "mapper/base/rng.h"
#include "mapper/site/map_ways.h"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

static uint32_t class_largest(const struct map_site *s, uint64_t fabrics, bool zipper)
{
	uint32_t best = MAP_NONE;

	for (uint32_t c = 0; c < s->nclasses; c++)
		if ((s->classes[c].fabrics & fabrics) == fabrics && s->classes[c].zipper == zipper &&
			(best == MAP_NONE || s->classes[c].slots > s->classes[best].slots))
			best = c;
	return best;
}

uint32_t map_start_side(const struct map_site *s, uint32_t cluster)
{
	return class_largest(s, UINT64_C(1) << cluster, false);
}

uint32_t map_start_between(const struct map_site *s, uint32_t a, uint32_t b)
{
	return class_largest(s, UINT64_C(1) << a | UINT64_C(1) << b, true);
}

/* --- pieces --- */

struct deal {
	const struct map_site *site;
	uint32_t pieces;
	uint32_t cluster[64]; /* the cluster of each piece */
	const uint32_t *want; /* the size of each piece */
	uint64_t *between;    /* [pieces * pieces]: weight between two pieces */
};

static map_cost deal_cost(const struct deal *d)
{
	map_cost cost = 0;

	for (uint32_t a = 0; a < d->pieces; a++)
		for (uint32_t b = 0; b < a; b++)
			cost += (map_cost)d->between[a * d->pieces + b] *
				map_ways_hops(d->site, d->cluster[a], d->cluster[b]);
	return cost;
}

/* Pieces of about the same size change places as long as that makes forwarding lighter. */
static void deal_improve(struct deal *d)
{
	map_cost cost = deal_cost(d);
	bool better = true;

	while (better) {
		better = false;
		for (uint32_t a = 0; a < d->pieces; a++)
			for (uint32_t b = 0; b < a; b++) {
				uint32_t old = d->cluster[a],
					 larger = d->want[a] > d->want[b] ? d->want[a] : d->want[b];
				uint32_t smaller = d->want[a] + d->want[b] - larger;

				if (larger - smaller > smaller / 10 + 1)
					continue;
				d->cluster[a] = d->cluster[b];
				d->cluster[b] = old;
				if (deal_cost(d) < cost) {
					cost = deal_cost(d);
					better = true;
				} else {
					d->cluster[b] = d->cluster[a];
					d->cluster[a] = old;
				}
			}
	}
}

static int pieces_deal(const struct map_problem *p, struct deal *d, const uint32_t *piece, uint8_t *class,
	struct zerr *err)
{
	const struct map_graph *g = p->graph;

	d->between = calloc((size_t)d->pieces * d->pieces, sizeof(*d->between));
	if (!d->between)
		return no_memory(err);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			d->between[piece[v] * d->pieces + piece[g->adj[e]]] += g->weight[e];
	deal_improve(d);
	for (uint32_t v = 0; v < g->n; v++)
		class[v] = (uint8_t)map_start_side(p->site, d->cluster[piece[v]]);
	free(d->between);
	return 0;
}

int map_start_pieces(const struct map_problem *p, const struct map_split *split, unsigned round, uint8_t *class,
	struct zerr *err)
{
	struct deal d = {.site = p->site};
	uint32_t want[64], *piece = malloc(p->graph->n * sizeof(*piece));
	int rc = piece ? 0 : no_memory(err);

	for (uint32_t c = 0; c < p->site->nclusters; c++)
		if (split->want[c] && map_start_side(p->site, c) != MAP_NONE) {
			want[d.pieces] = split->want[c];
			d.cluster[d.pieces++] = c;
		}
	d.want = want;
	if (!rc && !d.pieces) /* there are only zipper nodes */
		memset(class, 0, p->graph->n);
	if (!rc && d.pieces)
		rc = map_metis_pieces(p->graph, d.pieces, want, (unsigned)p->seed + round, piece, err);
	if (!rc && d.pieces)
		rc = pieces_deal(p, &d, piece, class, err);
	free(piece);
	return rc;
}

int map_start_separator(const struct map_problem *p, uint32_t a, uint32_t b, uint32_t between, unsigned round,
	uint8_t *class, struct zerr *err)
{
	uint32_t *piece = malloc(p->graph->n * sizeof(*piece));
	const uint8_t sides[2][3] = {{(uint8_t)a, (uint8_t)b, (uint8_t)between},
		{(uint8_t)b, (uint8_t)a, (uint8_t)between}};
	uint64_t size[2] = {0};
	int rc = piece ? map_metis_separator(p->graph, (unsigned)p->seed + round, piece, err) : no_memory(err);

	for (uint32_t v = 0; v < p->graph->n && !rc; v++)
		if (piece[v] < 2)
			size[piece[v]]++;
	for (uint32_t v = 0; v < p->graph->n && !rc; v++)
		class[v] =
			sides[(size[0] < size[1]) != (p->site->classes[a].slots < p->site->classes[b].slots)][piece[v]];
	free(piece);
	return rc;
}

void map_start_border(const struct map_problem *p, uint32_t a, uint32_t b, uint32_t between, uint8_t *class)
{
	const struct map_graph *g = p->graph;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint64_t e = g->off[v]; e < g->off[v + 1] && class[v] == a; e++)
			if (class[g->adj[e]] == b)
				class[v] = (uint8_t)between;
}

/* --- growing --- */

/* The next class with room in the given order; MAP_NONE: all are full. */
static uint32_t room_next(const struct map_site *s, const uint32_t *order, uint32_t norder, uint32_t *at,
	uint32_t *filled)
{
	while (*at < norder && *filled >= s->classes[order[*at]].slots) {
		(*at)++;
		*filled = 0;
	}
	if (*at == norder)
		return MAP_NONE;
	(*filled)++;
	return order[*at];
}

int map_start_grow(const struct map_problem *p, const uint32_t *order, uint32_t norder, uint32_t from, uint8_t *class,
	struct zerr *err)
{
	const struct map_graph *g = p->graph;
	uint32_t *queue = malloc(g->n * sizeof(*queue)), head = 0, tail = 0, at = 0, filled = 0, next = from;
	uint8_t *seen = calloc(g->n, 1);
	int rc = queue && seen ? 0 : no_memory(err);

	while (!rc && head < g->n) {
		uint32_t v, c;

		while (head == tail) { /* another component of the graph */
			if (!seen[next])
				queue[tail++] = next;
			seen[next] = 1;
			next = (next + 1) % g->n;
		}
		v = queue[head++];
		c = room_next(p->site, order, norder, &at, &filled);
		class[v] = (uint8_t)(c == MAP_NONE ? order[0] : c);
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			if (!seen[g->adj[e]]) {
				seen[g->adj[e]] = 1;
				queue[tail++] = g->adj[e];
			}
	}
	free(queue);
	free(seen);
	return rc;
}
