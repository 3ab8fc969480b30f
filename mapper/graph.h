/* SPDX-License-Identifier: BSD-3-Clause */
/* A communication graph from a file: METIS (undirected: each edge is a message each way) or Matrix Market coordinate
 * (entry i, j: a message from i to j; symmetric: both ways). Weights are units of the pattern's `bytes`. */
#ifndef ZIP_MAPPER_GRAPH_H
#define ZIP_MAPPER_GRAPH_H

#include <stdint.h>

#include "err.h"
#include "traffic.h"

struct graph {
	uint32_t ranks, degree; /* degree: most messages of a rank */
	uint64_t edges;
	uint64_t *off;		/* [ranks + 1] */
	struct traffic_message *edge;
};

/* The format is told from the first line. 0, -ENOMEM, -EINVAL ("path:line: reason"), or why it cannot be opened. */
int graph_read(struct graph **, const char *path, struct zerr *);
/* Only the number of vertices. */
int graph_peek(const char *path, uint64_t *ranks, struct zerr *);
void graph_destroy(struct graph *);

#endif
