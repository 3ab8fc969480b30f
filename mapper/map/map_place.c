/* SPDX-License-Identifier: BSD-3-Clause */
/* From classes to nodes. Each node is grown along the graph from a rank that has most to do with those that have their
 * place already; METIS parts are the other way, where the graph is small enough; exchanges of two ranks make the better
 * of both better still. Ranks of different classes do not meet here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_metis.h"
#include "mapper/map/map_place.h"

#define METIS_ENDS_MAX (UINT64_C(6) << 20) /* ends of edges up to which METIS is asked too */
#define METIS_NODES_MAX 1024u

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
		if (a->want[m->node[part[i]]] && place_fits(a, m->rank[i], m->node[part[i]])) {
			place_put(a, m->rank[i], m->node[part[i]]);
			a->want[m->node[part[i]]]--;
		}
	free(scratch);
	free(part);
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

	place_put_needs(a, class, c);
	rc = members_find(a, &m, class, c);
	if (rc)
		zerr_set(err, rc, "not enough memory");
	if (!rc && metis && m.nnodes > 1 && m.n > 2 * m.nnodes) {
		rc = class_metis(a, &m, err);
		rc = rc == -EAGAIN || rc == -EIO ? 0 : rc;
		/* what METIS put too much on a node is grown onto those with room */
	}
	if (!rc)
		rc = place_grow(a, class, c, err);
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
			place_put(&a, v, p->rules->pin[v]);
	for (uint32_t c = 0; c < p->site->nclasses && !rc; c++)
		rc = class_place(&a, class, c, metis, err);
	for (uint32_t v = 0; v < l->n && !rc; v++)
		if (l->node[v] == MAP_NONE)
			rc = zerr_set(err, -ENOSPC, "no node is left that has what rank %u needs", v);
	if (!rc)
		rc = place_swap(&a, err);
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
		place_put(&a, v, l->node[v]);
	if (!rc)
		rc = place_swap(&a, err);
	place_free(&a);
	return rc;
}
