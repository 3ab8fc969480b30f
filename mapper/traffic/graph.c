/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication graphs of any format, and as a pattern. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/graph.h"
#include "mapper/traffic/graph_text.h"
#include "mapper/model/model.h"
#include "mapper/traffic/pattern.h"
#include "common/graph/graph_scan.h"
#include "common/graph/graph_load.h"

/* Has anything been recorded in the phase? */
static bool has_phase(const struct zgraph *g, int64_t phase)
{
	for (size_t i = 0; i < g->nlayers; i++)
		if (g->layers[i].phase == phase)
			return true;
	for (size_t i = 0; i < g->ncalls; i++)
		if (g->calls[i].phase == phase)
			return true;
	return false;
}

static int recorded_load(struct zgraph **out, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	int rc = zgraph_load(out, path, select, err);

	if (!rc && select && select->phase >= 0 && !has_phase(*out, select->phase)) {
		rc = zerr_set(err, -EINVAL, "%s: there is no phase %lld in it", path, (long long)select->phase);
		zgraph_destroy(*out);
		*out = NULL;
	}
	return rc;
}

int graph_load(struct zgraph **out, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	int rc = zgraph_scan_probe(path, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	if (rc)
		return recorded_load(out, path, select, err);
	rc = graph_text_read(out, path, select && select->keep_self, err);
	if (!rc && select &&
		((select->phase >= 0 && select->phase != 1) ||
			(select->classes && !(select->classes & 1u << ZGRAPH_P2P)))) {
		zgraph_destroy(*out);
		*out = NULL;
		rc = zerr_set(err, -EINVAL, "%s: has phase 1 and point-to-point only, as every file of its format",
			path);
	}
	return rc;
}

static int peek_header(void *ctx, const struct zgraph_header *h, struct zerr *err)
{
	(void)err;
	*(uint64_t *)ctx = h->ranks;
	return 1;
}

int graph_peek(const char *path, uint64_t *ranks, struct zerr *err)
{
	static const struct zgraph_visitor visit = {.header = peek_header};
	int rc = zgraph_scan_probe(path, err);

	*ranks = 0;
	if (rc == 0)
		return graph_text_peek(path, ranks, err);
	if (rc > 0)
		rc = zgraph_scan(path, &visit, ranks, err);
	return rc > 0 ? 0 : rc;
}

/* --- messages for the model --- */

static uint64_t pieces(uint64_t bytes)
{
	return bytes / UINT32_MAX + (bytes % UINT32_MAX != 0);
}

static int graph_fill(struct graph *g, const struct zgraph *z, struct zerr *err)
{
	if (z->total_bytes > MODEL_BYTES_MAX) /* before they are cut into millions of pieces */
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
				uint32_t part = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;

				g->edge[n] = (struct traffic_message){z->peer[i], part};
				left -= part;
			}
		if (n - g->off[r] > UINT32_MAX)
			return zerr_set(err, -EINVAL, "more than 2^32 messages of a rank");
		g->off[r + 1] = n;
		g->degree = n - g->off[r] > g->degree ? (uint32_t)(n - g->off[r]) : g->degree;
	}
	return 0;
}

int graph_read(struct graph **out, const char *path, struct zerr *err)
{
	struct zgraph *z;
	int rc = graph_load(&z, path, NULL, err);

	*out = NULL;
	if (rc)
		return rc;
	struct graph *g = calloc(1, sizeof(*g));
	rc = g ? graph_fill(g, z, err) : zerr_set(err, -ENOMEM, "not enough memory");
	zgraph_destroy(z);
	if (rc) {
		zerr_prefix(err, rc, "%s", path);
		graph_destroy(g);
	} else {
		*out = g;
	}
	return rc;
}

void graph_destroy(struct graph *g)
{
	if (!g)
		return;
	free(g->off);
	free(g->edge);
	free(g);
}

/* --- as a pattern --- */

static uint32_t graph_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct graph *g = ((const struct pattern *)arg)->graph;
	uint32_t n = (uint32_t)(g->off[rank + 1] - g->off[rank]);

	memcpy(out, g->edge + g->off[rank], n * sizeof(*out));
	return n;
}

static int graph_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	const char *path = spec->words[0].value;
	int rc = spec_u64(spec, "bytes", 1, 1, 1ull << 40, &p->bytes, err);

	if (!rc)
		rc = graph_read(&p->graph, path ? path : "", err);
	if (rc)
		return rc;
	if (p->graph->ranks > ranks)
		return zerr_set(err, -EINVAL, "%s: %u vertices, but only %u cores", path, p->graph->ranks, ranks);
	p->source.ranks = p->graph->ranks;
	p->source.degree = p->graph->degree;
	p->source.messages = graph_messages;
	return 0;
}

const struct pattern_ops pattern_graph = {
	.name = "graph",
	.title = "Graph",
	.help = "graph:FILE (zipmap.graph(5), METIS or Matrix Market) bytes:1 (for a unit of weight)",
	.create = graph_create,
};
