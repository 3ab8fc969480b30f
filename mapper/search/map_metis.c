/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands graphs to METIS. Of a very large graph it gets only the heaviest edges of each rank. The refinement of the
 * result sees the other edges again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <metis.h>

#include "mapper/search/map_metis.h"
#include "mapper/base/rng.h"

#define ENDS_MAX (UINT64_C(24) << 20) /* ends of edges up to which METIS gets all edges */
#define HEAVIEST 10u		      /* edges of each rank in larger graphs */
#define WEIGHT_MAX (INT64_C(1) << 30) /* of all edges together, because METIS adds with 32 bits */

struct metis_graph {
	idx_t n;
	idx_t *xadj, *adjncy, *adjwgt;
};

static void metis_free(struct metis_graph *m)
{
	free(m->xadj);
	free(m->adjncy);
	free(m->adjwgt);
}

static int metis_alloc(struct metis_graph *m, uint32_t n, uint64_t ends)
{
	m->n = (idx_t)n;
	m->xadj = calloc((size_t)n + 2, sizeof(*m->xadj));
	m->adjncy = malloc((ends + 1) * sizeof(*m->adjncy));
	m->adjwgt = malloc((ends + 1) * sizeof(*m->adjwgt));
	return m->xadj && m->adjncy && m->adjwgt ? 0 : -ENOMEM;
}

static idx_t weight_scaled(const struct map_graph *g, uint64_t weight)
{
	if (g->total <= (uint64_t)WEIGHT_MAX)
		return (idx_t)weight;
	weight = (uint64_t)((unsigned __int128)weight * (uint64_t)WEIGHT_MAX / g->total);
	return weight ? (idx_t)weight : 1;
}

static int graph_whole(struct metis_graph *m, const struct map_graph *g)
{
	int rc = metis_alloc(m, g->n, g->off[g->n]);

	for (uint32_t v = 0; v <= g->n && !rc; v++)
		m->xadj[v] = (idx_t)g->off[v];
	for (uint64_t e = 0; e < g->off[g->n] && !rc; e++) {
		m->adjncy[e] = (idx_t)g->adj[e];
		m->adjwgt[e] = weight_scaled(g, g->weight[e]);
	}
	return rc;
}

/* --- the heaviest edges of each rank --- */

struct pick {
	uint64_t weight;
	uint32_t chance, edge; /* chance: the same from both ends */
};

static int pick_lighter(const struct pick *a, const struct pick *b)
{
	return a->weight != b->weight ? a->weight < b->weight : a->chance < b->chance;
}

/* Finds the HEAVIEST edges of v. Returns their number. */
static uint32_t picks_find(const struct map_graph *g, uint32_t v, struct pick *list)
{
	uint32_t n = 0;

	for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
		uint32_t u = g->adj[e], low = u < v ? u : v, high = u < v ? v : u, at;
		struct pick p = {g->weight[e], (uint32_t)rng_mix((uint64_t)low << 32 | high),
			(uint32_t)(e - g->off[v])};

		if (n == HEAVIEST && !pick_lighter(&list[n - 1], &p))
			continue;
		for (at = n < HEAVIEST ? n++ : n - 1; at && pick_lighter(&list[at - 1], &p); at--)
			list[at] = list[at - 1];
		list[at] = p;
	}
	return n;
}

/* Keeps the edges that either end has picked. They are counted, then filled in at both ends. */
static int graph_thin(struct metis_graph *m, const struct map_graph *g)
{
	struct pick list[HEAVIEST];
	uint64_t *bits = calloc(g->off[g->n] / 64 + 1, sizeof(*bits));
	uint64_t ends = 0;
	int rc = bits ? 0 : -ENOMEM;

	for (uint32_t v = 0; v < g->n && !rc; v++) {
		uint32_t n = picks_find(g, v, list);

		for (uint32_t i = 0; i < n; i++) {
			uint64_t e = g->off[v] + list[i].edge, back = map_graph_find(g, g->adj[e], v);

			bits[e / 64] |= UINT64_C(1) << e % 64;
			bits[back / 64] |= UINT64_C(1) << back % 64;
		}
	}
	for (uint64_t i = 0; i <= g->off[g->n] / 64 && !rc; i++)
		ends += (uint64_t)__builtin_popcountll(bits[i]);
	if (!rc)
		rc = metis_alloc(m, g->n, ends);
	ends = 0;
	for (uint32_t v = 0; v < g->n && !rc; v++) {
		m->xadj[v] = (idx_t)ends;
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			if (bits[e / 64] >> e % 64 & 1) {
				m->adjncy[ends] = (idx_t)g->adj[e];
				m->adjwgt[ends++] = weight_scaled(g, g->weight[e]);
			}
	}
	if (!rc)
		m->xadj[g->n] = (idx_t)ends;
	free(bits);
	return rc;
}

static int graph_make(struct metis_graph *m, const struct map_graph *g, struct zerr *err)
{
	int rc;

	*m = (struct metis_graph){0};
	rc = g->off[g->n] > ENDS_MAX ? graph_thin(m, g) : graph_whole(m, g);
	if (rc)
		metis_free(m);
	return rc ? zerr_set(err, rc, "not enough memory for the partitioning") : 0;
}

/* --- calls --- */

static int metis_result(int rc, struct zerr *err)
{
	if (rc == METIS_OK)
		return 0;
	return zerr_set(err, rc == METIS_ERROR_MEMORY ? -ENOMEM : -EIO, "METIS: %s",
		rc == METIS_ERROR_MEMORY ? "not enough memory" : "it failed");
}

int map_metis_pieces(const struct map_graph *g, uint32_t pieces, const uint32_t *want, unsigned seed, uint32_t *piece,
	struct zerr *err)
{
	idx_t options[METIS_NOPTIONS], npieces = (idx_t)pieces, one = 1, cut, *out;
	real_t *share, loose = (real_t)1.001;
	struct metis_graph m;
	int rc;

	if (pieces == 1) {
		memset(piece, 0, g->n * sizeof(*piece));
		return 0;
	}
	rc = graph_make(&m, g, err);
	if (rc)
		return rc;
	share = malloc(pieces * sizeof(*share));
	out = malloc((size_t)g->n * sizeof(*out));
	if (!share || !out) {
		rc = zerr_set(err, -ENOMEM, "not enough memory for the partitioning");
		goto out;
	}
	for (uint32_t i = 0; i < pieces; i++)
		share[i] = (real_t)want[i] / (real_t)g->n;
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = (idx_t)(seed % INT32_MAX);
	options[METIS_OPTION_NCUTS] = g->n < 100000 ? 4 : 1;
	rc = metis_result(pieces <= 8 ? METIS_PartGraphRecursive(&m.n, &one, m.xadj, m.adjncy, NULL, NULL, m.adjwgt,
						&npieces, share, &loose, options, &cut, out)
				      : METIS_PartGraphKway(&m.n, &one, m.xadj, m.adjncy, NULL, NULL, m.adjwgt,
						&npieces, share, NULL, options, &cut, out),
		err);
	for (uint32_t v = 0; v < g->n && !rc; v++)
		piece[v] = (uint32_t)out[v];
out:
	free(share);
	free(out);
	metis_free(&m);
	return rc;
}

int map_metis_separator(const struct map_graph *g, unsigned seed, uint32_t *piece, struct zerr *err)
{
	idx_t options[METIS_NOPTIONS], size;
	struct metis_graph m;
	int rc = graph_make(&m, g, err);

	if (rc)
		return rc;
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = (idx_t)(seed % INT32_MAX);
	options[METIS_OPTION_NSEPS] = 4;
	rc = metis_result(METIS_ComputeVertexSeparator(&m.n, m.xadj, m.adjncy, NULL, options, &size, (idx_t *)piece),
		err);
	metis_free(&m);
	return rc;
}
