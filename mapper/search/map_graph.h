/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication graph of the mapping: undirected, with one weight for all that two ranks send to each other. Made
 * once, then read by any thread. */
#ifndef ZIP_MAPPER_MAP_GRAPH_H
#define ZIP_MAPPER_MAP_GRAPH_H

#include <stdint.h>

#include "common/graph/graph.h"
#include "common/base/err.h"

#define MAP_WEIGHT_MAX (UINT64_C(1) << 52) /* of all pairs together, so that sums of costs stay exact */

struct map_graph {
	uint32_t n;	  /* ranks */
	uint64_t *off;	  /* [n + 1] */
	uint32_t *adj;	  /* [off[n]], neighbours of a rank, ascending; each pair stands at both ends */
	uint64_t *weight; /* [off[n]], >= 1: bytes + messages * per_message, scaled down to MAP_WEIGHT_MAX */
	uint64_t total;	  /* weight of all pairs, each counted once */
};

/* Makes the undirected graph. per_message: bytes that a message costs beyond its own. The result does not depend on
 * threads. 0, -ENOMEM, -E2BIG (more than 2^30 pairs). */
int map_graph_create(struct map_graph *, const struct zgraph *, uint64_t per_message, unsigned threads, struct zerr *);
/* Makes the graph that the n ranks of g in list have among themselves. `place` is scratch memory, [g->n]. 0 or -ENOMEM.
 */
int map_graph_induce(struct map_graph *, const struct map_graph *g, const uint32_t *list, uint32_t n, uint32_t *place,
	struct zerr *);
void map_graph_free(struct map_graph *);

/* Index of the edge from u to v in adj and weight; off[u + 1]: there is none. */
static inline uint64_t map_graph_find(const struct map_graph *g, uint32_t u, uint32_t v)
{
	uint64_t low = g->off[u], high = g->off[u + 1], end = high;

	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (g->adj[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < end && g->adj[low] == v ? low : end;
}

#endif
