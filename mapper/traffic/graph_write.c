/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes METIS and Matrix Market files, see graph_write.h. */
#include <inttypes.h>
#include <stdio.h>

#include "mapper/traffic/graph_undirected.h"
#include "mapper/traffic/graph_write.h"
#include "mapper/base/outfile.h"

/* METIS counts each edge twice. The mean of both directions therefore makes the sum right. METIS takes no weight 0. */
static uint64_t metis_weight(uint64_t both)
{
	return both / 2 + both % 2;
}

static int metis_body(FILE *f, const struct zgraph *g, struct zerr *err)
{
	struct zgraph *u;
	uint64_t edges = 0;
	int rc = graph_undirected(&u, g, err);

	if (rc)
		return rc;
	for (uint64_t i = 0; i < u->edges; i++)
		edges += u->bytes[i] > 0;
	for (uint32_t r = 0; r < u->ranks; r++) /* METIS has no edges of a vertex to itself */
		for (uint64_t i = u->off[r]; i < u->off[r + 1]; i++)
			edges -= u->peer[i] == r && u->bytes[i] > 0;
	fprintf(f, "%" PRIu32 " %" PRIu64 " 001\n", u->ranks, edges / 2);
	for (uint32_t r = 0; r < u->ranks; r++) {
		const char *between = "";

		for (uint64_t i = u->off[r]; i < u->off[r + 1]; i++) {
			if (!u->bytes[i] || u->peer[i] == r)
				continue;
			fprintf(f, "%s%" PRIu32 " %" PRIu64, between, u->peer[i] + 1, metis_weight(u->bytes[i]));
			between = " ";
		}
		fputc('\n', f);
	}
	zgraph_destroy(u);
	return 0;
}

static int market_body(FILE *f, const struct zgraph *g, struct zerr *err)
{
	(void)err;
	fprintf(f,
		"%%%%MatrixMarket matrix coordinate integer general\n"
		"%% row sent to column so many bytes\n%" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
		g->ranks, g->ranks, g->edges);
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++)
			fprintf(f, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", r + 1, g->peer[i] + 1, g->bytes[i]);
	return 0;
}

static int text_write(const struct zgraph *g, const char *path,
	int (*body)(FILE *, const struct zgraph *, struct zerr *), struct zerr *err)
{
	struct outfile o;
	int rc = outfile_open(&o, path, err);

	return rc ? rc : outfile_close(&o, body(o.f, g, err), err);
}

int graph_write_metis(const struct zgraph *g, const char *path, struct zerr *err)
{
	return text_write(g, path, metis_body, err);
}

int graph_write_market(const struct zgraph *g, const char *path, struct zerr *err)
{
	return text_write(g, path, market_body, err);
}
