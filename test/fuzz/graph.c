/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded communication graphs (common/graph/). The checksum at the end is made to fit, so that the rest is read. */
#include <stdlib.h>
#include <string.h>

#include "common/graph/graph_load.h"
#include "common/graph/graph_scan.h"
#include "common/wire/crc32.h"
#include "test/fuzz/target.h"

#define EDGES_MAX 100000

static void look(const struct zgraph *g)
{
	uint64_t bytes = 0, messages = 0;
	CHECK(g->off[0] == 0 && g->off[g->ranks] == g->edges);
	for (uint32_t r = 0; r < g->ranks; r++)
		CHECK(g->off[r] <= g->off[r + 1]);
	for (uint64_t e = 0; e < g->edges; e++) {
		CHECK(g->peer[e] < g->ranks);
		bytes += g->bytes[e];
		messages += g->messages[e];
	}
	CHECK(bytes == g->total_bytes && messages == g->total_messages);
	uint64_t run = 0, mpi = 0, spans = 0;
	for (uint32_t r = 0; g->rank && r < g->ranks; r++) {
		run += g->rank[r].run;
		mpi += g->rank[r].mpi;
	}
	for (int k = ZGRAPH_SPAN_MPI; k < ZGRAPH_SPANS; k++)
		spans += g->span[k].ns;
	CHECK(run == g->span[ZGRAPH_SPAN_RUN].ns && mpi == spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct zgraph_select few = {.phase = 1, .classes = 1, .keep_self = true, .edges_max = EDGES_MAX},
					  all = {.phase = -1, .edges_max = EDGES_MAX};
	struct zerr err = {{0}};
	if (size < 8)
		return 0;
	uint8_t *copy = (uint8_t *)target_text(data, size);
	const uint32_t sum = zcrc32(0, copy, size - 4);
	for (int i = 0; i < 4; i++)
		copy[size - 4 + (size_t)i] = (uint8_t)(sum >> 8 * i);
	const char *path = target_file(copy, size);
	zgraph_scan_probe(path, &err);
	for (int i = 0; i < 2; i++) {
		struct zgraph *g;
		if (zgraph_load(&g, path, i ? &few : &all, &err) == 0) {
			look(g);
			zgraph_destroy(g);
		} else {
			CHECK(err.text[0]);
		}
	}
	free(copy);
	return 0;
}
