/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the undirected graph: a rank's row and its column of the directed one, both ascending, are merged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map_graph.h"

#define PAIRS_MAX (UINT64_C(1) << 30) /* METIS counts both ends with 32 bits and a sign */

/* Who sends to each rank: the edges' numbers sorted by receiver, in the order of senders. */
struct columns {
	uint64_t *off;
	uint32_t *src;
	uint64_t *weight;
};

static int columns_make(struct columns *c, const struct zgraph *g, uint64_t per_message)
{
	c->off = calloc((size_t)g->ranks + 2, sizeof(*c->off));
	c->src = malloc((g->edges + 1) * sizeof(*c->src));
	c->weight = malloc((g->edges + 1) * sizeof(*c->weight));
	if (!c->off || !c->src || !c->weight)
		return -ENOMEM;
	for (uint64_t e = 0; e < g->edges; e++)
		c->off[g->peer[e] + 2]++;
	for (uint32_t v = 0; v < g->ranks; v++)
		c->off[v + 2] += c->off[v + 1];
	for (uint32_t u = 0; u < g->ranks; u++)
		for (uint64_t e = g->off[u]; e < g->off[u + 1]; e++) {
			uint64_t at = c->off[g->peer[e] + 1]++;

			c->src[at] = u;
			c->weight[at] = g->bytes[e] + g->messages[e] * per_message;
		}
	return 0;
}

static void columns_free(struct columns *c)
{
	free(c->off);
	free(c->src);
	free(c->weight);
}

static void neighbour_push(struct map_graph *m, uint64_t *at, uint32_t u, uint32_t v, uint64_t weight)
{
	if (u == v)
		return;
	m->adj[*at] = v;
	m->weight[(*at)++] = weight ? weight : 1;
}

/* Row u of the directed graph and its column: the neighbours of u, each once. */
static void row_merge(struct map_graph *m, uint64_t *at, const struct zgraph *g, const struct columns *c, uint32_t u,
	uint64_t per_message)
{
	uint64_t i = g->off[u], iend = g->off[u + 1], j = c->off[u], jend = c->off[u + 1];

	while (i < iend || j < jend) {
		uint32_t out = i < iend ? g->peer[i] : UINT32_MAX, in = j < jend ? c->src[j] : UINT32_MAX;
		uint64_t weight = 0;

		if (out <= in) {
			weight += g->bytes[i] + g->messages[i] * per_message;
			i++;
		}
		if (in <= out)
			weight += c->weight[j++];
		neighbour_push(m, at, u, out < in ? out : in, weight);
	}
}

/* Weights are cut to MAP_WEIGHT_MAX together; no pair vanishes. */
static void weights_scale(struct map_graph *m)
{
	long double sum = 0;
	unsigned shift = 0;

	for (uint64_t i = 0; i < m->off[m->n]; i++)
		sum += (long double)m->weight[i];
	while (sum / 2 > (long double)(MAP_WEIGHT_MAX - PAIRS_MAX)) {
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

/* Gives back what pairs in both directions did not need. */
static void shrink(struct map_graph *m, uint64_t ends)
{
	uint32_t *adj = realloc(m->adj, (ends + 1) * sizeof(*m->adj));
	uint64_t *weight = realloc(m->weight, (ends + 1) * sizeof(*m->weight));

	m->adj = adj ? adj : m->adj;
	m->weight = weight ? weight : m->weight;
}

int map_graph_create(struct map_graph *m, const struct zgraph *g, uint64_t per_message, struct zerr *err)
{
	struct columns c = {0};
	uint64_t at = 0;
	int rc = columns_make(&c, g, per_message);

	*m = (struct map_graph){.n = g->ranks};
	m->off = malloc(((size_t)g->ranks + 1) * sizeof(*m->off));
	m->adj = malloc((2 * g->edges + 1) * sizeof(*m->adj));
	m->weight = malloc((2 * g->edges + 1) * sizeof(*m->weight));
	if (rc || !m->off || !m->adj || !m->weight) {
		rc = zerr_set(err, -ENOMEM, "not enough memory for %llu edges", (unsigned long long)g->edges);
		goto out;
	}
	for (uint32_t u = 0; u < g->ranks; u++) {
		m->off[u] = at;
		row_merge(m, &at, g, &c, u, per_message);
	}
	m->off[g->ranks] = at;
	if (at > 2 * PAIRS_MAX - 2) {
		rc = zerr_set(err, -E2BIG, "more than 2^30 pairs of ranks");
		goto out;
	}
	shrink(m, at);
	weights_scale(m);
out:
	columns_free(&c);
	if (rc)
		map_graph_free(m);
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
