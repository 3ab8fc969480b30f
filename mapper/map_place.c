/* SPDX-License-Identifier: BSD-3-Clause */
/* From classes to nodes. Each node is grown along the graph from a rank that has most to do with those that have their
 * place already; METIS parts are the other way, where the graph is small enough; exchanges of two ranks make the better
 * of both better still. Ranks of different classes do not meet here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map_layout.h"
#include "map_metis.h"
#include "map_queue.h"

#define METIS_ENDS_MAX (UINT64_C(6) << 20) /* ends of edges up to which METIS is asked too */
#define METIS_NODES_MAX 1024u
#define REFINE_WORK (UINT64_C(600) << 20) /* ends of edges that exchanges may look at */

struct place {
	const struct map_problem *p;
	struct map_layout *l;
	uint32_t *free;			     /* [nnodes] */
	uint32_t (*limit)[MAP_FEATURES_MAX]; /* [nnodes]: ranks with a need that still fit */
	uint32_t *want;			     /* [nnodes]: ranks that it shall get */
};

static bool fits(const struct place *a, uint32_t v, uint32_t node)
{
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1 && !a->limit[node][f])
			return false;
	return a->free[node] > 0;
}

static void put(struct place *a, uint32_t v, uint32_t node)
{
	a->l->node[v] = node;
	a->free[node]--;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1)
			a->limit[node][f]--;
}

static void take(struct place *a, uint32_t v)
{
	uint32_t node = a->l->node[v];

	a->l->node[v] = MAP_NONE;
	a->free[node]++;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1)
			a->limit[node][f]++;
}

/* --- growing --- */

struct grow {
	struct place *a;
	const uint8_t *class;
	uint32_t c;
	uint64_t *linked; /* [n]: weight to the node that grows */
	uint32_t *touched, ntouched;
	struct map_queue queue;
	uint32_t next; /* rank from which a free one is searched */
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

/* A rank that has no node yet: one that the last node touched, or the next in order. MAP_NONE: all have one. */
static uint32_t grow_seed(struct grow *g, uint32_t node)
{
	const struct place *a = g->a;

	for (uint32_t i = 0; i < g->ntouched; i++)
		if (a->l->node[g->touched[i]] == MAP_NONE && fits(a, g->touched[i], node))
			return g->touched[i];
	while (g->next < a->l->n && (g->class[g->next] != g->c || a->l->node[g->next] != MAP_NONE))
		g->next++;
	for (uint32_t v = g->next; v < a->l->n; v++)
		if (g->class[v] == g->c && a->l->node[v] == MAP_NONE && fits(a, v, node))
			return v;
	return MAP_NONE;
}

static int node_grow(struct grow *g, uint32_t node, uint32_t ranks)
{
	struct place *a = g->a;
	struct map_entry e;
	uint32_t seed = grow_seed(g, node);
	int rc = 0;

	for (uint32_t i = 0; i < g->ntouched; i++)
		g->linked[g->touched[i]] = 0;
	g->ntouched = 0;
	g->queue.n = 0;
	while (ranks && !rc && seed != MAP_NONE) {
		put(a, seed, node);
		ranks--;
		rc = grow_touch(g, seed);
		seed = MAP_NONE;
		while (ranks && !rc && seed == MAP_NONE && map_queue_pop(&g->queue, &e))
			if (a->l->node[e.rank] == MAP_NONE && e.cost == -(__int128)g->linked[e.rank] &&
				fits(a, e.rank, node))
				seed = e.rank;
		if (ranks && seed == MAP_NONE)
			seed = grow_seed(g, node);
	}
	return rc;
}

/* Ranks with needs first get a node each where few nodes can take them: growing would spend those on others. */
static void needs_put(struct place *a, const uint8_t *class, uint32_t c)
{
	const struct map_site *s = a->p->site;
	uint32_t node = 0;

	for (uint32_t v = 0; v < a->l->n; v++) {
		if (class[v] != c || !a->p->rules->need[v] || a->l->node[v] != MAP_NONE)
			continue;
		for (uint32_t i = 0; i < s->nnodes; i++, node = (node + 1) % s->nnodes)
			if (s->nodes[node].class == c && fits(a, v, node))
				break;
		if (s->nodes[node].class == c && fits(a, v, node))
			put(a, v, node);
	}
}

static int class_grow(struct place *a, const uint8_t *class, uint32_t c, struct zerr *err)
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
			rc = node_grow(&g, i, a->want[i] < a->free[i] ? a->want[i] : a->free[i]);
	for (uint32_t i = 0; i < s->nnodes && !rc; i++) /* whom the wanted numbers left over */
		if (s->nodes[i].class == c && a->free[i])
			rc = node_grow(&g, i, a->free[i]);
	map_queue_free(&g.queue);
	free(g.linked);
	free(g.touched);
	return rc ? zerr_set(err, rc, "not enough memory") : 0;
}

/* --- METIS --- */

/* The ranks of a class that have no place yet, and the nodes that shall get some. */
struct members {
	uint32_t *rank, n, *node, nnodes, *want;
};

static int class_metis(struct place *a, const struct members *m, struct zerr *err)
{
	struct map_graph g;
	uint32_t *scratch = malloc(a->l->n * sizeof(*scratch)), *part = malloc(m->n * sizeof(*part));
	int rc = scratch && part ? map_graph_induce(&g, a->p->graph, m->rank, m->n, scratch, err)
				 : zerr_set(err, -ENOMEM, "not enough memory");

	if (!rc) {
		rc = g.off[g.n] ? map_metis_parts(&g, m->nnodes, m->want, (unsigned)a->p->seed, part, err) : -EAGAIN;
		map_graph_free(&g);
	}
	for (uint32_t i = 0; i < m->n && !rc; i++)
		if (a->want[m->node[part[i]]] && fits(a, m->rank[i], m->node[part[i]])) {
			put(a, m->rank[i], m->node[part[i]]);
			a->want[m->node[part[i]]]--;
		}
	free(scratch);
	free(part);
	return rc;
}

/* --- exchanges --- */

struct swap {
	struct place *a;
	uint32_t *member, *first; /* ranks by node: those of node i from member[first[i]] to member[first[i + 1]] */
	uint32_t *at;		  /* [n]: position in member */
	uint64_t *linked;	  /* [nnodes]: weight of the rank in work to each node */
	uint32_t *touched, ntouched;
	uint64_t work;
};

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
	uint64_t low = g->off[u], high = g->off[u + 1];

	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (g->adj[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->off[u + 1] && g->adj[low] == v ? g->weight[low] : 0;
}

static bool free_to_go(const struct place *a, uint32_t v)
{
	return a->p->rules->pin[v] == MAP_NONE;
}

/* Can u and v change nodes by their needs? */
static bool swap_allowed(const struct place *a, uint32_t u, uint32_t v)
{
	if (!free_to_go(a, u) || !free_to_go(a, v))
		return false;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++) {
		int nu = a->p->rules->need[u] >> f & 1, nv = a->p->rules->need[v] >> f & 1;

		if (nu != nv && !a->limit[a->l->node[nu ? v : u]][f])
			return false;
	}
	return true;
}

static void swap_do(struct swap *s, uint32_t u, uint32_t v)
{
	uint32_t nu = s->a->l->node[u], nv = s->a->l->node[v], at = s->at[u];

	take(s->a, u);
	take(s->a, v);
	put(s->a, u, nv);
	put(s->a, v, nu);
	s->at[u] = s->at[v];
	s->at[v] = at;
	s->member[s->at[u]] = u;
	s->member[s->at[v]] = v;
}

/* The exchange of v with a rank of another node that gains most. */
static bool rank_improve(struct swap *s, uint32_t v)
{
	const struct map_graph *g = s->a->p->graph;
	const struct map_site *site = s->a->p->site;
	uint32_t own = s->a->l->node[v], best = MAP_NONE;
	int64_t most = 0;

	s->ntouched = 0;
	s->work += g->off[v + 1] - g->off[v];
	for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
		uint32_t node = s->a->l->node[g->adj[e]];

		if (!s->linked[node])
			s->touched[s->ntouched++] = node;
		s->linked[node] += g->weight[e];
	}
	for (uint32_t i = 0; i < s->ntouched; i++) {
		uint32_t node = s->touched[i];
		int64_t gain = (int64_t)s->linked[node] - (int64_t)s->linked[own];

		if (node == own || site->nodes[node].class != site->nodes[own].class)
			continue;
		for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++) {
			uint32_t u = s->member[k];
			int64_t sum;

			if (!swap_allowed(s->a, u, v))
				continue;
			sum = gain + (int64_t)linked_to(s, u, own) - (int64_t)linked_to(s, u, node) -
			      2 * (int64_t)weight_between(g, u, v);
			if (sum > most) {
				most = sum;
				best = u;
			}
		}
	}
	for (uint32_t i = 0; i < s->ntouched; i++)
		s->linked[s->touched[i]] = 0;
	if (best != MAP_NONE)
		swap_do(s, v, best);
	return best != MAP_NONE;
}

static int swaps_run(struct place *a, struct zerr *err)
{
	const uint32_t n = a->l->n, nnodes = a->p->site->nnodes;
	struct swap s = {.a = a};
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
	}
out:
	free(s.member);
	free(s.first);
	free(s.at);
	free(s.linked);
	free(s.touched);
	return rc;
}

/* --- classes --- */

static int place_create(struct place *a, const struct map_problem *p, struct map_layout *l, struct zerr *err)
{
	const struct map_site *s = p->site;

	*a = (struct place){.p = p, .l = l};
	a->free = malloc(s->nnodes * sizeof(*a->free));
	a->limit = malloc(s->nnodes * sizeof(*a->limit));
	a->want = calloc(s->nnodes, sizeof(*a->want));
	if (!a->free || !a->limit || !a->want)
		return zerr_set(err, -ENOMEM, "not enough memory for %u nodes", s->nnodes);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		a->free[i] = s->nodes[i].slots;
		memcpy(a->limit[i], s->nodes[i].limit, sizeof(a->limit[i]));
	}
	return 0;
}

static void place_free(struct place *a)
{
	free(a->free);
	free(a->limit);
	free(a->want);
}

/* As few nodes as the ranks of the class need, in the order of the hostfile. */
static void want_set(struct place *a, uint32_t c, uint32_t ranks)
{
	for (uint32_t i = 0; i < a->p->site->nnodes; i++) {
		if (a->p->site->nodes[i].class != c)
			continue;
		a->want[i] = a->free[i] < ranks ? a->free[i] : ranks;
		ranks -= a->want[i];
	}
}

static int members_find(struct place *a, struct members *m, const uint8_t *class, uint32_t c)
{
	const struct map_site *s = a->p->site;

	m->rank = malloc(a->l->n * sizeof(*m->rank));
	m->node = malloc(s->nnodes * sizeof(*m->node));
	m->want = malloc(s->nnodes * sizeof(*m->want));
	m->n = m->nnodes = 0;
	if (!m->rank || !m->node || !m->want)
		return -ENOMEM;
	for (uint32_t v = 0; v < a->l->n; v++)
		if (class[v] == c && a->l->node[v] == MAP_NONE)
			m->rank[m->n++] = v;
	want_set(a, c, m->n);
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (s->nodes[i].class == c && a->want[i]) {
			m->node[m->nnodes] = i;
			m->want[m->nnodes++] = a->want[i];
		}
	return 0;
}

static void members_free(struct members *m)
{
	free(m->rank);
	free(m->node);
	free(m->want);
}

static int class_place(struct place *a, const uint8_t *class, uint32_t c, bool metis, struct zerr *err)
{
	struct members m;
	int rc;

	needs_put(a, class, c);
	rc = members_find(a, &m, class, c);
	if (rc)
		zerr_set(err, rc, "not enough memory");
	if (!rc && metis && m.nnodes > 1 && m.n > 2 * m.nnodes) {
		rc = class_metis(a, &m, err);
		rc = rc == -EAGAIN || rc == -EIO ? 0 : rc;
		/* what METIS put too much on a node is grown onto those with room */
	}
	if (!rc)
		rc = class_grow(a, class, c, err);
	members_free(&m);
	return rc;
}

static int layout_try(struct map_layout *l, const struct map_problem *p, const uint8_t *class, bool metis,
	struct zerr *err)
{
	struct place a;
	int rc = place_create(&a, p, l, err);

	memset(l->node, 0xff, l->n * sizeof(*l->node));
	for (uint32_t v = 0; v < l->n && !rc; v++)
		if (p->rules->pin[v] != MAP_NONE)
			put(&a, v, p->rules->pin[v]);
	for (uint32_t c = 0; c < p->site->nclasses && !rc; c++)
		rc = class_place(&a, class, c, metis, err);
	for (uint32_t v = 0; v < l->n && !rc; v++)
		if (l->node[v] == MAP_NONE)
			rc = zerr_set(err, -ENOSPC, "no node is left that has what rank %u needs", v);
	if (!rc)
		rc = swaps_run(&a, err);
	place_free(&a);
	return rc;
}

int map_layout_place(struct map_layout *l, const struct map_problem *p, const uint8_t *class, struct zerr *err)
{
	struct map_layout other;
	int rc = layout_try(l, p, class, false, err);

	if (rc || p->graph->off[l->n] > METIS_ENDS_MAX || p->site->nnodes > METIS_NODES_MAX)
		return rc;
	rc = map_layout_create(&other, l->n, err);
	if (rc)
		return rc;
	rc = layout_try(&other, p, class, true, err);
	if (!rc && map_layout_internode(&other, p->graph) < map_layout_internode(l, p->graph))
		memcpy(l->node, other.node, l->n * sizeof(*l->node));
	map_layout_free(&other);
	return rc;
}

int map_layout_refine(struct map_layout *l, const struct map_problem *p, struct zerr *err)
{
	struct place a;
	int rc = place_create(&a, p, l, err);

	for (uint32_t v = 0; v < l->n && !rc; v++)
		put(&a, v, l->node[v]);
	if (!rc)
		rc = swaps_run(&a, err);
	place_free(&a);
	return rc;
}
