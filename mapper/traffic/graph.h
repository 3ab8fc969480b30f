/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication graphs from files of any format: zipmap.graph(5), or those of graph_text.h. */
#ifndef ZIP_MAPPER_GRAPH_H
#define ZIP_MAPPER_GRAPH_H

#include <stdint.h>

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/base/err.h"
#include "mapper/traffic/traffic.h"

/* Any format. As zgraph_load; "path:line: reason" for text, which is refused where select asks for more than it can
 * have. */
int graph_load(struct zgraph **, const char *path, const struct zgraph_select *, struct zerr *);
/* Only the number of ranks. */
int graph_peek(const char *path, uint64_t *ranks, struct zerr *);

/* Both directions together: edge (a, b) and edge (b, a) have the sum of what a sent to b and b to a. Has no layers,
 * calls and title; total_* stay those of g. 0, -ENOMEM, -EOVERFLOW. */
int graph_undirected(struct zgraph **, const struct zgraph *, struct zerr *);

/* What the model wants. Bytes of the file are units of the pattern's `bytes`. */
struct graph {
	uint32_t ranks, degree; /* degree: most messages of a rank */
	uint64_t edges;
	uint64_t *off; /* [ranks + 1] */
	struct traffic_message *edge;
};

/* All phases and classes. 0 or a negative errno. */
int graph_read(struct graph **, const char *path, struct zerr *);
void graph_destroy(struct graph *);

#endif
