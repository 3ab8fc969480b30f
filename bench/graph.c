/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes large communication graphs, zipmap.graph(5). usage: graph FILE RANKS PAIRS grid|random. In a grid each rank
 * talks to its nearest neighbours in three dimensions, and ranks have shuffled numbers. In a random graph it talks to
 * random ranks. Messages go both ways.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph/graph.h"

static uint64_t state = 88172645463325252u;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Makes pairs of a torus of side^3 points, offset after offset, the nearest first. Returns their number. */
static uint64_t grid(struct zgraph_edge *edge, uint32_t ranks, uint64_t pairs, const uint32_t *name)
{
	int64_t side = 1;
	uint64_t n = 0;

	while ((side + 1) * (side + 1) * (side + 1) <= ranks)
		side++;
	for (int64_t reach = 1; n < pairs && reach < side / 2; reach++)
		for (int64_t x = 0; x <= reach; x++)
			for (int64_t y = -reach; y <= reach; y++)
				for (int64_t z = -reach; z <= reach; z++) {
					int64_t far = x > llabs(y) ? x : llabs(y);

					far = far > llabs(z) ? far : llabs(z);
					if (far != reach || (!x && (y < 0 || (!y && z < 0))))
						continue;
					for (int64_t p = 0; p < side * side * side && n < pairs; p++) {
						int64_t a = p / side / side, b = p / side % side, c = p % side;
						int64_t q = ((a + x) % side * side + (b + y + side) % side) * side +
							    (c + z + side) % side;

						edge[n++] = (struct zgraph_edge){name[p], name[q], 65536 >> reach, 1};
					}
				}
	return n;
}

int main(int argc, char **argv)
{
	uint32_t ranks = argc == 5 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, *name;
	uint64_t pairs = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
	struct zgraph_edge *edge;
	struct zgraph *g;
	struct zerr err;
	int rc;

	if (ranks < 8 || !pairs) {
		fprintf(stderr, "usage: graph FILE RANKS PAIRS grid|random\n");
		return 2;
	}
	edge = malloc(2 * pairs * sizeof(*edge));
	name = malloc(ranks * sizeof(*name));
	if (!edge || !name)
		return 1;
	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t j = (uint32_t)(chance() % (i + 1));

		name[i] = name[j];
		name[j] = i;
	}
	if (!strcmp(argv[4], "grid")) {
		pairs = grid(edge, ranks, pairs, name);
	} else {
		for (uint64_t i = 0; i < pairs; i++) {
			uint32_t a = (uint32_t)(chance() % ranks), b = (uint32_t)(chance() % (ranks - 1));

			edge[i] = (struct zgraph_edge){a, b + (b >= a), 1024, 1};
		}
	}
	for (uint64_t i = 0; i < pairs; i++)
		edge[pairs + i] = (struct zgraph_edge){edge[i].dst, edge[i].src, edge[i].bytes, 1};
	rc = zgraph_build(&g, ranks, edge, 2 * pairs, false, &err);
	free(edge);
	free(name);
	if (!rc)
		rc = zgraph_save(g, argv[1], &err);
	if (rc)
		fprintf(stderr, "graph: %s\n", err.text);
	return rc ? 1 : 0;
}
