/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a communication graph into a pattern, see pattern_graph.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/graph.h"
#include "mapper/traffic/pattern_graph.h"

/* --- messages for the model --- */

static uint64_t pieces(uint64_t bytes)
{
	return bytes / UINT32_MAX + (bytes % UINT32_MAX != 0);
}

static int edges_fill(struct pattern_edges *g, const struct zgraph *z, struct zerr *err)
{
	if (z->total_bytes > TRAFFIC_BYTES_MAX) /* checked before edges are cut into millions of pieces */
		return zerr_set(err, -ERANGE, "more than 2^52 bytes");
	g->ranks = z->ranks;
	for (uint64_t i = 0; i < z->edges; i++)
		g->edges += pieces(z->bytes[i]);
	g->off = calloc((size_t)z->ranks + 1, sizeof(*g->off));
	g->edge = malloc((g->edges ? g->edges : 1) * sizeof(*g->edge));
	if (!g->off || !g->edge)
		return zerr_set(err, -ENOMEM, "not enough memory");
	uint64_t n = 0;
	for (uint32_t r = 0; r < z->ranks; r++) {
		for (uint64_t i = z->off[r]; i < z->off[r + 1]; i++)
			for (uint64_t left = z->bytes[i]; left; n++) {
				uint32_t piece = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;

				g->edge[n] = (struct traffic_message){z->peer[i], piece};
				left -= piece;
			}
		if (n - g->off[r] > UINT32_MAX)
			return zerr_set(err, -EINVAL, "more than 2^32 messages of a rank");
		g->off[r + 1] = n;
		g->degree = n - g->off[r] > g->degree ? (uint32_t)(n - g->off[r]) : g->degree;
	}
	return 0;
}

int pattern_graph_read(struct pattern_edges **out, const char *path, struct zerr *err)
{
	struct zgraph *z;
	int rc = graph_load(&z, path, NULL, err);

	*out = NULL;
	if (rc)
		return rc;
	struct pattern_edges *g = calloc(1, sizeof(*g));
	rc = g ? edges_fill(g, z, err) : zerr_set(err, -ENOMEM, "not enough memory");
	zgraph_destroy(z);
	if (rc) {
		zerr_prefix(err, rc, "%s", path);
		pattern_graph_destroy(g);
	} else {
		*out = g;
	}
	return rc;
}

void pattern_graph_destroy(struct pattern_edges *g)
{
	if (!g)
		return;
	free(g->off);
	free(g->edge);
	free(g);
}

/* --- as a pattern --- */

static uint32_t edges_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct pattern_edges *g = ((const struct pattern *)arg)->graph;
	uint32_t n = (uint32_t)(g->off[rank + 1] - g->off[rank]);

	memcpy(out, g->edge + g->off[rank], n * sizeof(*out));
	return n;
}

static int graph_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	const char *path = spec->words[0].value;
	int rc = spec_u64(spec, "bytes", 1, 1, 1ull << 40, &p->bytes, err);

	if (!rc)
		rc = pattern_graph_read(&p->graph, path ? path : "", err);
	if (rc)
		return rc;
	if (p->graph->ranks > ranks)
		return zerr_set(err, -EINVAL, "%s: %u vertices, but only %u cores", path, p->graph->ranks, ranks);
	p->source.ranks = p->graph->ranks;
	p->source.degree = p->graph->degree;
	p->source.messages = edges_messages;
	return 0;
}

const struct pattern_ops pattern_graph = {
	.name = "graph",
	.title = "Graph",
	.help = "graph:FILE (zipmap.graph(5), METIS or Matrix Market) bytes:1 (for a unit of weight)",
	.create = graph_create,
};
