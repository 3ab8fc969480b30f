/* SPDX-License-Identifier: BSD-3-Clause */
/* From classes to nodes. One way is to grow each node along the graph (map_grow.h). Where the graph is small enough,
 * METIS pieces are the other way. Exchanges of two ranks (map_swap.h) improve both results, and the better one is
 * taken. Ranks of different classes are not exchanged here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_metis.h"
#include "mapper/map/map_grow.h"
#include "mapper/map/map_place.h"
#include "mapper/map/map_swap.h"

#define METIS_ENDS_MAX (UINT64_C(6) << 20) /* ends of edges up to which METIS is tried too */
#define METIS_NODES_MAX 1024u

/* --- METIS --- */

/* The ranks of a class that have no node yet, and the nodes that are to get some of them. */
struct members {
	uint32_t *rank, n, *node, nnodes, *want;
};

static int class_metis(struct map_filling *a, const struct members *m, struct zerr *err)
{
	struct map_graph g;
	uint32_t *scratch = malloc(a->l->n * sizeof(*scratch)), *piece = malloc(m->n * sizeof(*piece));
	int rc = scratch && piece ? map_graph_induce(&g, a->p->graph, m->rank, m->n, scratch, err)
				  : zerr_set(err, -ENOMEM, "not enough memory");

	if (!rc) {
		rc = g.off[g.n] ? map_metis_pieces(&g, m->nnodes, m->want, (unsigned)a->p->seed, piece, err) : -EAGAIN;
		map_graph_free(&g);
	}
	for (uint32_t i = 0; i < m->n && !rc; i++)
		if (a->want[m->node[piece[i]]] && map_filling_fits(a, m->rank[i], m->node[piece[i]])) {
			map_filling_put(a, m->rank[i], m->node[piece[i]]);
			a->want[m->node[piece[i]]]--;
		}
	free(scratch);
	free(piece);
	return rc;
}

/* --- classes --- */

static int filling_create(struct map_filling *a, const struct map_problem *p, struct map_layout *l, struct zerr *err)
{
	const struct map_site *s = p->site;

	*a = (struct map_filling){.p = p, .l = l};
	a->want = calloc(s->nnodes, sizeof(*a->want));
	if (map_room_create(&a->room, p, err))
		return -ENOMEM;
	return a->want ? 0 : zerr_set(err, -ENOMEM, "not enough memory for %u nodes", s->nnodes);
}

static void filling_free(struct map_filling *a)
{
	map_room_free(&a->room);
	free(a->want);
}

/* Wants as few nodes as the ranks of the class need, in the order of the hostfile. */
static void want_set(struct map_filling *a, uint32_t c, uint32_t ranks)
{
	for (uint32_t i = 0; i < a->p->site->nnodes; i++) {
		if (a->p->site->nodes[i].class != c)
			continue;
		a->want[i] = a->room.free[i] < ranks ? a->room.free[i] : ranks;
		ranks -= a->want[i];
	}
}

static int members_find(struct map_filling *a, struct members *m, const uint8_t *class, uint32_t c)
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

static int class_place(struct map_filling *a, const uint8_t *class, uint32_t c, bool metis, struct zerr *err)
{
	struct members m;
	int rc;

	map_grow_needs(a, class, c);
	rc = members_find(a, &m, class, c);
	if (rc)
		zerr_set(err, rc, "not enough memory");
	if (!rc && metis && m.nnodes > 1 && m.n > 2 * m.nnodes) {
		rc = class_metis(a, &m, err);
		rc = rc == -EAGAIN || rc == -EIO ? 0 : rc;
		/* growing moves what METIS put too much on a node to nodes with room */
	}
	if (!rc)
		rc = map_grow_ranks(a, class, c, err);
	members_free(&m);
	return rc;
}

static int layout_try(struct map_layout *l, const struct map_problem *p, const uint8_t *class, bool metis,
	struct zerr *err)
{
	struct map_filling a;
	int rc = filling_create(&a, p, l, err);

	memset(l->node, 0xff, l->n * sizeof(*l->node));
	for (uint32_t v = 0; v < l->n && !rc; v++)
		if (p->rules->pin[v] != MAP_NONE)
			map_filling_put(&a, v, p->rules->pin[v]);
	for (uint32_t c = 0; c < p->site->nclasses && !rc; c++)
		rc = class_place(&a, class, c, metis, err);
	for (uint32_t v = 0; v < l->n && !rc; v++)
		if (l->node[v] == MAP_NONE)
			rc = zerr_set(err, -ENOSPC, "no node is left that has what rank %u needs", v);
	if (!rc)
		rc = map_swap_ranks(&a, err);
	filling_free(&a);
	return rc;
}

int map_place_ranks(struct map_layout *l, const struct map_problem *p, const uint8_t *class, struct zerr *err)
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

int map_place_refine(struct map_layout *l, const struct map_problem *p, struct zerr *err)
{
	struct map_filling a;
	int rc = filling_create(&a, p, l, err);

	for (uint32_t v = 0; v < l->n && !rc; v++)
		map_filling_put(&a, v, l->node[v]);
	if (!rc)
		rc = map_swap_ranks(&a, err);
	filling_free(&a);
	return rc;
}
