/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges two ranks of a class where that makes the weight between nodes lighter. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "mapper/map/map_swap.h"

#define REFINE_WORK (UINT64_C(600) << 20) /* ends of edges that exchanges may look at */

struct swap {
	struct map_filling *a;
	uint32_t *member, *first; /* ranks by node: those of node i are member[first[i]] to member[first[i + 1] - 1] */
	uint32_t *at;		  /* [n]: position in member */
	uint64_t *linked;	  /* [nnodes]: weight of the rank in work to each node */
	uint32_t *touched, ntouched;
	uint64_t work;
	uint64_t gained; /* weight that no longer lies between nodes */
};

/* The weight of edges between nodes, each edge seen from both ends. */
static uint64_t weight_outside(const struct map_filling *a)
{
	const struct map_graph *g = a->p->graph;
	uint64_t sum = 0;

	for (uint32_t v = 0; v < a->l->n; v++)
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			sum += a->l->node[v] != a->l->node[g->adj[e]] ? g->weight[e] : 0;
	return sum;
}

static uint64_t linked_to(struct swap *s, uint32_t v, uint32_t node)
{
	const struct map_graph *g = s->a->p->graph;
	uint64_t sum = 0;

	s->work += g->off[v + 1] - g->off[v];
	for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
		sum += s->a->l->node[g->adj[e]] == node ? g->weight[e] : 0;
	return sum;
}

static uint64_t weight_between(const struct map_graph *g, uint32_t u, uint32_t v)
{
	uint64_t e = map_graph_find(g, u, v);

	return e < g->off[u + 1] ? g->weight[e] : 0;
}

static bool free_to_go(const struct map_filling *a, uint32_t v)
{
	return a->p->rules->pin[v] == MAP_NONE;
}

/* Do their needs allow u and v to change nodes? */
static bool swap_allowed(const struct map_filling *a, uint32_t u, uint32_t v)
{
	if (!free_to_go(a, u) || !free_to_go(a, v))
		return false;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++) {
		int nu = a->p->rules->need[u] >> f & 1, nv = a->p->rules->need[v] >> f & 1;

		if (nu != nv && !a->room.limit[a->l->node[nu ? v : u]][f])
			return false;
	}
	return true;
}

static void swap_do(struct swap *s, uint32_t u, uint32_t v)
{
	uint32_t nu = s->a->l->node[u], nv = s->a->l->node[v], at = s->at[u];

	map_filling_take(s->a, u);
	map_filling_take(s->a, v);
	map_filling_put(s->a, u, nv);
	map_filling_put(s->a, v, nu);
	s->at[u] = s->at[v];
	s->at[v] = at;
	s->member[s->at[u]] = u;
	s->member[s->at[v]] = v;
}

struct exchange {
	uint32_t with;
	int64_t gain;
};

/* Finds the rank of a node whose exchange with v gains more than best, if there is one. */
static void node_search(struct swap *s, uint32_t v, uint32_t node, struct exchange *best)
{
	uint32_t own = s->a->l->node[v];
	int64_t gain = (int64_t)s->linked[node] - (int64_t)s->linked[own];

	for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++) {
		uint32_t u = s->member[k];
		int64_t sum;

		if (!swap_allowed(s->a, u, v))
			continue;
		sum = gain + (int64_t)linked_to(s, u, own) - (int64_t)linked_to(s, u, node) -
		      2 * (int64_t)weight_between(s->a->p->graph, u, v);
		if (sum > best->gain)
			*best = (struct exchange){u, sum};
	}
}

/* Makes the exchange of v with a rank of another node that gains most. */
static bool rank_improve(struct swap *s, uint32_t v)
{
	const struct map_graph *g = s->a->p->graph;
	const struct map_node *nodes = s->a->p->site->nodes;
	uint32_t own = s->a->l->node[v];
	struct exchange best = {MAP_NONE, 0};

	s->ntouched = 0;
	s->work += g->off[v + 1] - g->off[v];
	for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
		uint32_t node = s->a->l->node[g->adj[e]];

		if (!s->linked[node])
			s->touched[s->ntouched++] = node;
		s->linked[node] += g->weight[e];
	}
	for (uint32_t i = 0; i < s->ntouched; i++)
		if (s->touched[i] != own && nodes[s->touched[i]].class == nodes[own].class)
			node_search(s, v, s->touched[i], &best);
	for (uint32_t i = 0; i < s->ntouched; i++)
		s->linked[s->touched[i]] = 0;
	if (best.with == MAP_NONE)
		return false;
	swap_do(s, v, best.with);
	s->gained += (uint64_t)best.gain;
	return true;
}

int map_swap_ranks(struct map_filling *a, struct zerr *err)
{
	const uint32_t n = a->l->n, nnodes = a->p->site->nnodes;
	struct swap s = {.a = a};
	const uint64_t before = weight_outside(a);
	bool better = true;
	int rc = 0;

	s.member = malloc(n * sizeof(*s.member));
	s.first = calloc((size_t)nnodes + 2, sizeof(*s.first));
	s.at = malloc(n * sizeof(*s.at));
	s.linked = calloc(nnodes, sizeof(*s.linked));
	s.touched = malloc(nnodes * sizeof(*s.touched));
	if (!s.member || !s.first || !s.at || !s.linked || !s.touched) {
		rc = zerr_set(err, -ENOMEM, "not enough memory");
		goto out;
	}
	for (uint32_t v = 0; v < n; v++)
		s.first[a->l->node[v] + 2]++;
	for (uint32_t i = 0; i < nnodes; i++)
		s.first[i + 2] += s.first[i + 1];
	for (uint32_t v = 0; v < n; v++) {
		s.at[v] = s.first[a->l->node[v] + 1]++;
		s.member[s.at[v]] = v;
	}
	while (better && s.work < REFINE_WORK) {
		better = false;
		for (uint32_t v = 0; v < n && s.work < REFINE_WORK; v++)
			if (free_to_go(a, v))
				better |= rank_improve(&s, v);
		/* else exchanges could go on for ever */
		assert(weight_outside(a) + 2 * s.gained == before);
	}
out:
	free(s.member);
	free(s.first);
	free(s.at);
	free(s.linked);
	free(s.touched);
	return rc;
}
