/* SPDX-License-Identifier: BSD-3-Clause */
/* Grows each node along the graph, from a rank that has most to do with the ranks that have their places already. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/map/map_grow.h"
#include "mapper/search/map_queue.h"

struct grow {
	struct map_filling *a;
	const uint8_t *class;
	uint32_t c;
	uint64_t *linked; /* [n]: weight to the node that grows */
	uint32_t *touched, ntouched;
	struct map_queue queue;
	uint32_t next; /* the search for a rank without a node begins here */
};

static int grow_touch(struct grow *g, uint32_t v)
{
	const struct map_graph *m = g->a->p->graph;
	int rc = 0;

	for (uint64_t e = m->off[v]; e < m->off[v + 1] && !rc; e++) {
		uint32_t u = m->adj[e];

		if (g->class[u] != g->c || g->a->l->node[u] != MAP_NONE)
			continue;
		if (!g->linked[u])
			g->touched[g->ntouched++] = u;
		g->linked[u] += m->weight[e];
		rc = map_queue_push(&g->queue, -(__int128)g->linked[u], u, 0);
	}
	return rc;
}

/* The rank to begin a node with: one that the last node touched, or the next one in order. MAP_NONE: all ranks have a
 * node. */
static uint32_t grow_seed(struct grow *g, uint32_t node)
{
	const struct map_filling *a = g->a;

	for (uint32_t i = 0; i < g->ntouched; i++)
		if (a->l->node[g->touched[i]] == MAP_NONE && map_filling_fits(a, g->touched[i], node))
			return g->touched[i];
	while (g->next < a->l->n && (g->class[g->next] != g->c || a->l->node[g->next] != MAP_NONE))
		g->next++;
	for (uint32_t v = g->next; v < a->l->n; v++)
		if (g->class[v] == g->c && a->l->node[v] == MAP_NONE && map_filling_fits(a, v, node))
			return v;
	return MAP_NONE;
}

static int node_grow(struct grow *g, uint32_t node, uint32_t ranks)
{
	struct map_filling *a = g->a;
	struct map_entry e;
	uint32_t seed = grow_seed(g, node);
	int rc = 0;

	for (uint32_t i = 0; i < g->ntouched; i++)
		g->linked[g->touched[i]] = 0;
	g->ntouched = 0;
	g->queue.n = 0;
	while (ranks && !rc && seed != MAP_NONE) {
		map_filling_put(a, seed, node);
		ranks--;
		rc = grow_touch(g, seed);
		seed = MAP_NONE;
		while (ranks && !rc && seed == MAP_NONE && map_queue_pop(&g->queue, &e))
			if (a->l->node[e.rank] == MAP_NONE && e.cost == -(__int128)g->linked[e.rank] &&
				map_filling_fits(a, e.rank, node))
				seed = e.rank;
		if (ranks && seed == MAP_NONE)
			seed = grow_seed(g, node);
	}
	return rc;
}

/* Ranks with needs get their nodes first, because growing would spend scarce nodes on other ranks. Ranks with most
 * needs come first, because they find fewest nodes. */
void map_grow_needs(struct map_filling *a, const uint8_t *class, uint32_t c)
{
	const struct map_site *s = a->p->site;
	uint32_t node = 0;

	for (int needs = (int)s->nfeatures; needs > 0; needs--)
		for (uint32_t v = 0; v < a->l->n; v++) {
			if (class[v] != c || __builtin_popcount(a->p->rules->need[v]) != needs ||
				a->l->node[v] != MAP_NONE)
				continue;
			for (uint32_t i = 0; i < s->nnodes; i++, node = (node + 1) % s->nnodes)
				if (s->nodes[node].class == c && map_filling_fits(a, v, node))
					break;
			if (s->nodes[node].class == c && map_filling_fits(a, v, node))
				map_filling_put(a, v, node);
		}
}

int map_grow_ranks(struct map_filling *a, const uint8_t *class, uint32_t c, struct zerr *err)
{
	const struct map_site *s = a->p->site;
	struct grow g = {.a = a, .class = class, .c = c};
	int rc = 0;

	g.linked = calloc(a->l->n, sizeof(*g.linked));
	g.touched = malloc(a->l->n * sizeof(*g.touched));
	if (!g.linked || !g.touched)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < s->nnodes && !rc; i++)
		if (s->nodes[i].class == c && a->want[i])
			rc = node_grow(&g, i, a->want[i] < a->room.free[i] ? a->want[i] : a->room.free[i]);
	for (uint32_t i = 0; i < s->nnodes && !rc; i++) /* for the ranks that the wanted numbers left over */
		if (s->nodes[i].class == c && a->room.free[i])
			rc = node_grow(&g, i, a->room.free[i]);
	map_queue_free(&g.queue);
	free(g.linked);
	free(g.touched);
	return rc ? zerr_set(err, rc, "not enough memory") : 0;
}
