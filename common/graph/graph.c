/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication graphs in memory. See graph.h. */
#include "common/graph/graph.h"
#include "common/graph/graph_writer.h"

#include <errno.h>
#include <stdlib.h>

#include "common/graph/graph_format.h"

const char *const zgraph_class_names[ZGRAPH_CLASSES] = {"p2p", "collective", "put", "get"};

/* Collectives have the same names in both tables. */
#define COLLECTIVES                                                                                                    \
	[ZGRAPH_BARRIER] = "barrier", [ZGRAPH_BCAST] = "bcast", [ZGRAPH_GATHER] = "gather",                            \
	[ZGRAPH_GATHERV] = "gatherv", [ZGRAPH_SCATTER] = "scatter", [ZGRAPH_SCATTERV] = "scatterv",                    \
	[ZGRAPH_ALLGATHER] = "allgather", [ZGRAPH_ALLGATHERV] = "allgatherv", [ZGRAPH_ALLTOALL] = "alltoall",          \
	[ZGRAPH_ALLTOALLV] = "alltoallv", [ZGRAPH_ALLTOALLW] = "alltoallw", [ZGRAPH_REDUCE] = "reduce",                \
	[ZGRAPH_ALLREDUCE] = "allreduce", [ZGRAPH_REDUCE_SCATTER] = "reduce_scatter",                                  \
	[ZGRAPH_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block", [ZGRAPH_SCAN] = "scan", [ZGRAPH_EXSCAN] = "exscan",    \
	[ZGRAPH_NEIGHBOR_ALLGATHER] = "neighbor_allgather", [ZGRAPH_NEIGHBOR_ALLGATHERV] = "neighbor_allgatherv",      \
	[ZGRAPH_NEIGHBOR_ALLTOALL] = "neighbor_alltoall", [ZGRAPH_NEIGHBOR_ALLTOALLV] = "neighbor_alltoallv",          \
	[ZGRAPH_NEIGHBOR_ALLTOALLW] = "neighbor_alltoallw"

const char *const zgraph_kind_names[ZGRAPH_KINDS] = {
	[ZGRAPH_OUTSIDE] = "outside",
	[ZGRAPH_LOST] = "lost",
	COLLECTIVES,
};

const char *const zgraph_span_names[ZGRAPH_SPANS] = {
	[ZGRAPH_SPAN_RUN] = "run",
	[ZGRAPH_SPAN_BRIDGE] = "bridge",
	COLLECTIVES,
	[ZGRAPH_SPAN_SEND] = "send",
	[ZGRAPH_SPAN_RECV] = "recv",
	[ZGRAPH_SPAN_SENDRECV] = "sendrecv",
	[ZGRAPH_SPAN_START] = "start",
	[ZGRAPH_SPAN_WAIT] = "wait",
	[ZGRAPH_SPAN_TEST] = "test",
	[ZGRAPH_SPAN_PROBE] = "probe",
	[ZGRAPH_SPAN_ONESIDED] = "one-sided",
	[ZGRAPH_SPAN_WINDOW] = "window",
	[ZGRAPH_SPAN_FILE] = "file",
	[ZGRAPH_SPAN_COMM] = "communicator",
};

static int pair_compare(const void *va, const void *vb)
{
	const struct zgraph_pair *a = va, *b = vb;

	return (a->peer > b->peer) - (a->peer < b->peer);
}

int zgraph_pairs_merge(struct zgraph_pair *p, size_t *n)
{
	size_t kept = 0, i;

	for (i = 1; i < *n && p[i - 1].peer < p[i].peer;)
		i++;
	if (i >= *n)
		return 0;
	qsort(p, *n, sizeof(*p), pair_compare);
	for (i = 0; i < *n; i++)
		if (!kept || p[kept - 1].peer != p[i].peer)
			p[kept++] = p[i];
		else if (__builtin_add_overflow(p[kept - 1].bytes, p[i].bytes, &p[kept - 1].bytes) ||
			 __builtin_add_overflow(p[kept - 1].messages, p[i].messages, &p[kept - 1].messages))
			return -EOVERFLOW;
	*n = kept;
	return 0;
}

/* Computes where each rank's edges will stand, off[rank], and the largest number of edges of one rank. */
static int rows_count(struct zgraph *g, const struct zgraph_edge *e, size_t n, bool keep_self, uint64_t *most,
	struct zerr *err)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i].src >= g->ranks || e[i].dst >= g->ranks)
			return zerr_set(err, -EINVAL, "an edge from %u to %u, but only %u ranks", e[i].src, e[i].dst,
				g->ranks);
		g->off[e[i].src + 1] += keep_self || e[i].src != e[i].dst;
	}
	*most = 1;
	for (uint32_t r = 0; r < g->ranks; r++) {
		*most = g->off[r + 1] > *most ? g->off[r + 1] : *most;
		g->off[r + 1] += g->off[r];
	}
	return 0;
}

/* Puts every edge into its row. This moves off[] on by a row; rows_merge sets it again. */
static void rows_fill(struct zgraph *g, const struct zgraph_edge *e, size_t n, bool keep_self)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i].src == e[i].dst && !keep_self)
			continue;
		uint64_t at = g->off[e[i].src]++;
		g->peer[at] = e[i].dst;
		g->bytes[at] = e[i].bytes;
		g->messages[at] = e[i].messages;
	}
}

/* Sorts each row and adds up edges with the same peer; fills total_* and the layer. */
static int rows_merge(struct zgraph *g, struct zgraph_pair *row, struct zerr *err)
{
	struct zgraph_layer *l = g->layers;
	uint64_t begin = 0, filled = 0;

	for (uint32_t r = 0; r < g->ranks; r++) {
		uint64_t end = g->off[r];
		size_t n = 0;

		for (uint64_t i = begin; i < end; i++)
			row[n++] = (struct zgraph_pair){g->peer[i], g->bytes[i], g->messages[i]};
		int rc = zgraph_pairs_merge(row, &n);
		g->off[r] = filled;
		for (size_t i = 0; !rc && i < n; i++, filled++) {
			g->peer[filled] = row[i].peer;
			g->bytes[filled] = row[i].bytes;
			g->messages[filled] = row[i].messages;
			if (__builtin_add_overflow(g->total_bytes, row[i].bytes, &g->total_bytes) ||
				__builtin_add_overflow(g->total_messages, row[i].messages, &g->total_messages))
				rc = -EOVERFLOW;
			l->edges += row[i].peer != r;
			l->self_bytes += row[i].peer == r ? row[i].bytes : 0;
			l->self_messages += row[i].peer == r ? row[i].messages : 0;
		}
		if (rc)
			return zerr_set(err, rc, "more than 2^64 bytes");
		begin = end;
	}
	g->off[g->ranks] = g->edges = filled;
	l->bytes = g->total_bytes;
	l->messages = g->total_messages;
	g->nlayers = filled > 0;
	return 0;
}

int zgraph_build(struct zgraph **out, uint32_t ranks, const struct zgraph_edge *edges, size_t n, bool keep_self,
	struct zerr *err)
{
	struct zgraph *g = calloc(1, sizeof(*g));
	struct zgraph_pair *row = NULL;
	uint64_t most = 0;
	int rc = -ENOMEM;

	*out = NULL;
	if (!g || !(g->off = calloc((size_t)ranks + 1, sizeof(*g->off))) ||
		!(g->peer = malloc((n + 1) * sizeof(*g->peer))) || !(g->bytes = malloc((n + 1) * sizeof(*g->bytes))) ||
		!(g->messages = malloc((n + 1) * sizeof(*g->messages))) ||
		!(g->layers = calloc(1, sizeof(*g->layers)))) {
		zerr_set(err, rc, "not enough memory");
		goto err_destroy;
	}
	g->ranks = ranks;
	g->layers->phase = 1;
	g->layers->class = ZGRAPH_P2P;
	rc = rows_count(g, edges, n, keep_self, &most, err);
	if (rc)
		goto err_destroy;
	row = malloc(most * sizeof(*row));
	if (!row) {
		rc = zerr_set(err, -ENOMEM, "not enough memory");
		goto err_destroy;
	}
	rows_fill(g, edges, n, keep_self);
	rc = rows_merge(g, row, err);
	if (rc)
		goto err_destroy;
	free(row);
	*out = g;
	return 0;

err_destroy:
	free(row);
	zgraph_destroy(g);
	return rc;
}

static int row_save(struct zgraph_writer *w, const struct zgraph *g, uint32_t rank, struct zgraph_run *runs,
	struct zerr *err)
{
	size_t n = 0, len;
	uint8_t *row;

	for (uint64_t i = g->off[rank]; i < g->off[rank + 1]; i++)
		runs[n++] = (struct zgraph_run){.phase = 1,
			.class = ZGRAPH_P2P,
			.peer = g->peer[i],
			.count = 1,
			.bytes = g->bytes[i],
			.messages = g->messages[i]};
	int rc = zgraph_writer_encode(&(struct zgraph_row){.runs = runs, .nruns = n}, &row, &len);
	if (rc)
		return zerr_set(err, rc, "not enough memory");
	rc = zgraph_writer_row(w, row, len, err);
	free(row);
	return rc;
}

int zgraph_save(const struct zgraph *g, const char *path, struct zerr *err)
{
	struct zgraph_writer *w;
	uint64_t most = 1;

	for (uint32_t r = 0; r < g->ranks; r++)
		most = g->off[r + 1] - g->off[r] > most ? g->off[r + 1] - g->off[r] : most;
	struct zgraph_run *runs = malloc(most * sizeof(*runs));
	int rc = runs ? zgraph_writer_open(&w, path, g->ranks, g->model, g->title, false, err)
		      : zerr_set(err, -ENOMEM, "not enough memory");
	if (rc)
		goto out;
	for (uint32_t r = 0; !rc && r < g->ranks; r++)
		rc = row_save(w, g, r, runs, err);
	if (rc)
		zgraph_writer_abandon(w);
	else
		rc = zgraph_writer_close(w, err);
out:
	free(runs);
	return rc;
}

void zgraph_destroy(struct zgraph *g)
{
	if (!g)
		return;
	free(g->off);
	free(g->peer);
	free(g->bytes);
	free(g->messages);
	free(g->layers);
	free(g->calls);
	free(g->rank);
	free(g);
}
