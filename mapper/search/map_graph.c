/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the undirected graph. A rank's row and its column in the directed graph, both ascending, are merged twice: to
 * count, and to write. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_columns.h"
#include "mapper/search/map_graph.h"
#include "mapper/base/par.h"

#define PAIRS_MAX (UINT64_C(1) << 30) /* METIS counts both ends with 32 bits and a sign */
#define CHUNK 4096u		      /* ranks that a thread takes at a time */

struct merge {
	struct map_graph *m;
	const struct zgraph *g;
	struct map_columns columns;
	uint64_t per_message;
};

/* Merges row u of the directed graph with its column: the neighbours of u, each once. Writes them unless adj is NULL.
 * Returns their number. */
static uint64_t row_merge(const struct merge *w, uint32_t u, uint32_t *adj, uint64_t *weight)
{
	const struct zgraph *g = w->g;
	const struct map_columns *c = &w->columns;
	uint64_t i = g->off[u], iend = g->off[u + 1], j = c->off[u], jend = c->off[u + 1], n = 0;

	while (i < iend || j < jend) {
		uint32_t out = i < iend ? g->peer[i] : UINT32_MAX, in = j < jend ? c->src[j] : UINT32_MAX;
		uint64_t both = 0;

		if (out <= in) {
			both += adj ? map_columns_weight(g, i, w->per_message) : 0;
			i++;
		}
		if (in <= out) {
			both += adj ? c->weight[j] : 0;
			j++;
		}
		if ((out < in ? out : in) == u) /* an edge to itself */
			continue;
		if (adj) {
			adj[n] = out < in ? out : in;
			weight[n] = both ? both : 1;
		}
		n++;
	}
	return n;
}

static void chunk_range(const struct map_graph *m, size_t item, uint32_t *first, uint32_t *end)
{
	*first = (uint32_t)item * CHUNK;
	*end = m->n - *first < CHUNK ? m->n : *first + CHUNK;
}

static void chunk_count(void *arg, size_t item, unsigned worker)
{
	const struct merge *w = arg;
	uint32_t first, end;

	(void)worker;
	chunk_range(w->m, item, &first, &end);
	for (uint32_t u = first; u < end; u++)
		w->m->off[u + 1] = row_merge(w, u, NULL, NULL);
}

static void chunk_fill(void *arg, size_t item, unsigned worker)
{
	const struct merge *w = arg;
	uint32_t first, end;

	(void)worker;
	chunk_range(w->m, item, &first, &end);
	for (uint32_t u = first; u < end; u++)
		row_merge(w, u, w->m->adj + w->m->off[u], w->m->weight + w->m->off[u]);
}

/* Scales all weights down to MAP_WEIGHT_MAX together. No pair vanishes. */
static void weights_scale(struct map_graph *m)
{
	unsigned __int128 sum = 0;
	unsigned shift = 0;

	for (uint64_t i = 0; i < m->off[m->n]; i++)
		sum += m->weight[i];
	while (sum / 2 > MAP_WEIGHT_MAX - PAIRS_MAX) {
		sum /= 2;
		shift++;
	}
	m->total = 0;
	for (uint64_t i = 0; i < m->off[m->n]; i++) {
		m->weight[i] = m->weight[i] >> shift ? m->weight[i] >> shift : 1;
		m->total += m->weight[i];
	}
	m->total /= 2;
}

static int merge_run(struct merge *w, unsigned threads, struct zerr *err)
{
	struct map_graph *m = w->m;
	size_t chunks = (m->n + (size_t)CHUNK - 1) / CHUNK;

	m->off[0] = 0;
	par_run(threads, chunks, chunk_count, w);
	for (uint32_t u = 0; u < m->n; u++)
		m->off[u + 1] += m->off[u];
	if (m->off[m->n] > 2 * PAIRS_MAX - 2)
		return zerr_set(err, -E2BIG, "more than 2^30 pairs of ranks");
	m->adj = malloc((m->off[m->n] + 1) * sizeof(*m->adj));
	m->weight = malloc((m->off[m->n] + 1) * sizeof(*m->weight));
	if (!m->adj || !m->weight)
		return zerr_set(err, -ENOMEM, "not enough memory for %llu edges", (unsigned long long)w->g->edges);
	par_run(threads, chunks, chunk_fill, w);
	return 0;
}

int map_graph_create(struct map_graph *m, const struct zgraph *g, uint64_t per_message, unsigned threads,
	struct zerr *err)
{
	struct merge w = {.m = m, .g = g, .per_message = per_message};
	int rc = map_columns_create(&w.columns, g, per_message, threads);

	*m = (struct map_graph){.n = g->ranks};
	m->off = malloc(((size_t)g->ranks + 1) * sizeof(*m->off));
	if (rc || !m->off)
		rc = zerr_set(err, -ENOMEM, "not enough memory for %llu edges", (unsigned long long)g->edges);
	else
		rc = merge_run(&w, threads, err);
	map_columns_free(&w.columns);
	if (rc)
		map_graph_free(m);
	else
		weights_scale(m);
	return rc;
}

int map_graph_induce(struct map_graph *m, const struct map_graph *g, const uint32_t *list, uint32_t n, uint32_t *place,
	struct zerr *err)
{
	uint64_t edges = 0, at = 0;

	memset(place, 0xff, g->n * sizeof(*place));
	for (uint32_t i = 0; i < n; i++) {
		place[list[i]] = i;
		edges += g->off[list[i] + 1] - g->off[list[i]];
	}
	*m = (struct map_graph){.n = n};
	m->off = malloc(((size_t)n + 1) * sizeof(*m->off));
	m->adj = malloc((edges + 1) * sizeof(*m->adj));
	m->weight = malloc((edges + 1) * sizeof(*m->weight));
	if (!m->off || !m->adj || !m->weight) {
		map_graph_free(m);
		return zerr_set(err, -ENOMEM, "not enough memory for %llu edges", (unsigned long long)edges);
	}
	for (uint32_t i = 0; i < n; i++) {
		m->off[i] = at;
		for (uint64_t e = g->off[list[i]]; e < g->off[list[i] + 1]; e++) {
			if (place[g->adj[e]] == UINT32_MAX)
				continue;
			m->adj[at] = place[g->adj[e]];
			m->weight[at++] = g->weight[e];
			m->total += g->weight[e];
		}
	}
	m->off[n] = at;
	m->total /= 2;
	return 0;
}

void map_graph_free(struct map_graph *m)
{
	free(m->off);
	free(m->adj);
	free(m->weight);
	*m = (struct map_graph){0};
}
