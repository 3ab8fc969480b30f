/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a search: classes of ranks, loads and cost. Also its repair after a rule was broken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_state.h"
#include "mapper/search/map_queue.h"
#include "mapper/base/rng.h"

int map_state_create(struct map_state *c, const struct map_problem *p, struct zerr *err)
{
	const struct map_site *s = p->site;

	*c = (struct map_state){.p = p, .n = p->graph->n, .k = s->nclasses};
	c->class = calloc(c->n, sizeof(*c->class));
	c->linked = malloc((size_t)c->n * c->k * sizeof(*c->linked));
	c->near = calloc((size_t)c->k * c->k, sizeof(*c->near));
	if (!c->class || !c->linked || !c->near) {
		map_state_free(c);
		return zerr_set(err, -ENOMEM, "not enough memory for %u ranks and %u kinds of nodes", p->graph->n,
			s->nclasses);
	}
	for (uint32_t a = 0; a < c->k; a++)
		for (uint32_t b = 0; b < c->k; b++)
			c->near[a * c->k + b] = !s->far[a * c->k + b] && s->classes[a].fabrics != s->classes[b].fabrics;
	return 0;
}

void map_state_free(struct map_state *c)
{
	free(c->class);
	free(c->linked);
	free(c->near);
	*c = (struct map_state){0};
}

map_cost map_state_cost_in(const struct map_state *c, uint32_t rank, uint32_t class)
{
	const uint64_t *linked = c->linked + (size_t)rank * c->k;
	const uint8_t *far = c->p->site->far + (size_t) class * c->k, *near = c->near + (size_t) class * c->k;
	uint64_t bridged = 0, direct = 0;

	for (uint32_t b = 0; b < c->k; b++) {
		bridged += linked[b] * far[b];
		direct += linked[b] * near[b];
	}
	return ((map_cost)bridged << 64) + direct;
}

static void load_add(struct map_state *c, uint32_t rank, uint32_t class, uint32_t n)
{
	c->load[class] += n;
	for (uint32_t f = 0; f < c->p->site->nfeatures; f++)
		if (c->p->rules->need[rank] >> f & 1)
			c->needing[class][f] += n;
}

void map_state_set(struct map_state *c, const uint8_t *class)
{
	const struct map_graph *g = c->p->graph;

	if (class != c->class)
		memcpy(c->class, class, c->n * sizeof(*class));
	memset(c->load, 0, sizeof(c->load));
	memset(c->needing, 0, sizeof(c->needing));
	memset(c->linked, 0, (size_t)c->n * c->k * sizeof(*c->linked));
	c->cost = 0;
	for (uint32_t v = 0; v < c->n; v++) {
		uint64_t *linked = c->linked + (size_t)v * c->k;

		load_add(c, v, c->class[v], 1);
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			linked[c->class[g->adj[e]]] += g->weight[e];
		c->cost += map_state_cost_in(c, v, c->class[v]);
	}
	c->cost = (map_cost)(map_cost_bridged(c->cost) / 2) << 64 | (uint64_t)c->cost / 2;
}

void map_state_move(struct map_state *c, uint32_t rank, uint32_t class)
{
	const struct map_graph *g = c->p->graph;
	uint32_t old = c->class[rank];

	c->cost += map_state_cost_in(c, rank, class) - map_state_cost_in(c, rank, old);
	load_add(c, rank, old, UINT32_MAX);
	load_add(c, rank, class, 1);
	c->class[rank] = (uint8_t) class;
	for (uint64_t e = g->off[rank]; e < g->off[rank + 1]; e++) {
		uint64_t *linked = c->linked + (size_t)g->adj[e] * c->k;

		linked[old] -= g->weight[e];
		linked[class] += g->weight[e];
	}
}

/* --- repair --- */

static bool has_room(const struct map_state *c, uint32_t rank, uint32_t class)
{
	const struct map_site *s = c->p->site;

	if (c->load[class] >= s->classes[class].slots || !map_rules_allow(c->p->rules, s, rank, class))
		return false;
	for (uint32_t f = 0; f < s->nfeatures; f++)
		if (c->p->rules->need[rank] >> f & 1 && c->needing[class][f] >= s->classes[class].limit[f])
			return false;
	return true;
}

/* Must the rank leave its class? The class has more ranks than slots, or more ranks that need a feature than it can
 * give the feature to. */
static bool must_leave(const struct map_state *c, uint32_t rank)
{
	const struct map_site *s = c->p->site;
	uint32_t class = c->class[rank];

	if (!map_rules_allow(c->p->rules, s, rank, class))
		return true;
	if (c->p->rules->pin[rank] != MAP_NONE)
		return false;
	if (c->load[class] > s->classes[class].slots)
		return true;
	for (uint32_t f = 0; f < s->nfeatures; f++)
		if (c->p->rules->need[rank] >> f & 1 && c->needing[class][f] > s->classes[class].limit[f])
			return true;
	return false;
}

/* Ranks in a class that is not allowed to them go first, to any class that is, with or without room. */
static void expel(struct map_state *c)
{
	const struct map_site *s = c->p->site;

	for (uint32_t v = 0; v < c->n; v++) {
		uint32_t best = MAP_NONE;
		map_cost least = 0;
		bool room = false;

		if (map_rules_allow(c->p->rules, s, v, c->class[v]))
			continue;
		for (uint32_t to = 0; to < c->k; to++) {
			map_cost cost;

			if (!map_rules_allow(c->p->rules, s, v, to) || (room && !has_room(c, v, to)))
				continue;
			cost = map_state_cost_in(c, v, to);
			if (best == MAP_NONE || cost < least || (!room && has_room(c, v, to))) {
				best = to;
				least = cost;
				room = has_room(c, v, to);
			}
		}
		if (best != MAP_NONE)
			map_state_move(c, v, best);
	}
}

static int offer(struct map_state *c, struct map_queue *q, uint32_t rank)
{
	map_cost stay = map_state_cost_in(c, rank, c->class[rank]), least = 0;
	uint32_t best = MAP_NONE;

	for (uint32_t to = 0; to < c->k; to++) {
		map_cost cost = to == c->class[rank] ? 0 : map_state_cost_in(c, rank, to) - stay;

		if (to == c->class[rank] || !has_room(c, rank, to) || (best != MAP_NONE && cost >= least))
			continue;
		best = to;
		least = cost;
	}
	return best == MAP_NONE ? 0 : map_queue_push(q, least, rank, best);
}

/* Ranks leave classes that are too full, the cheapest first. An entry of the queue may be old: it is checked again. */
static int relieve(struct map_state *c, struct map_queue *q)
{
	const struct map_graph *g = c->p->graph;
	struct map_entry e;
	int rc = 0;

	for (uint32_t v = 0; v < c->n && !rc; v++)
		if (must_leave(c, v))
			rc = offer(c, q, v);
	while (!rc && map_queue_pop(q, &e)) {
		map_cost now;

		if (!must_leave(c, e.rank))
			continue;
		now = map_state_cost_in(c, e.rank, e.to) - map_state_cost_in(c, e.rank, c->class[e.rank]);
		if (!has_room(c, e.rank, e.to) || now > e.cost) {
			rc = offer(c, q, e.rank);
			continue;
		}
		map_state_move(c, e.rank, e.to);
		for (uint64_t i = g->off[e.rank]; i < g->off[e.rank + 1] && !rc; i++)
			if (must_leave(c, g->adj[i]))
				rc = offer(c, q, g->adj[i]);
	}
	return rc;
}

int map_state_repair(struct map_state *c, struct zerr *err)
{
	struct map_queue q = {0};
	int rc;

	expel(c);
	rc = relieve(c, &q);
	map_queue_free(&q);
	if (rc)
		return zerr_set(err, rc, "not enough memory");
	for (uint32_t v = 0; v < c->n; v++)
		if (must_leave(c, v))
			return zerr_set(err, -ENOSPC, "no place for rank %u by single moves", v);
	return 0;
}

/* --- kicks --- */

int map_state_kick(struct map_state *c, uint32_t size, struct zerr *err)
{
	const struct map_graph *g = c->p->graph;
	uint64_t bits = rng_at(c->p->seed, RNG_MAP, 1, c->random++);
	uint32_t start = rng_below((uint32_t)bits, c->n), to = rng_below((uint32_t)(bits >> 32), c->k);
	uint32_t *queue = malloc((size + 1) * sizeof(*queue)), n = 1;

	if (!queue)
		return zerr_set(err, -ENOMEM, "not enough memory");
	queue[0] = start;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = queue[i], from = c->class[v];

		if (from != to && map_rules_allow(c->p->rules, c->p->site, v, to))
			map_state_move(c, v, to);
		else if (i)
			continue;
		for (uint64_t e = g->off[v]; e < g->off[v + 1] && n < size; e++)
			if (c->class[g->adj[e]] != to)
				queue[n++] = g->adj[e];
	}
	free(queue);
	return map_state_repair(c, err);
}
