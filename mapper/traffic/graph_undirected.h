/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication graphs without direction. */
#ifndef ZIP_MAPPER_GRAPH_UNDIRECTED_H
#define ZIP_MAPPER_GRAPH_UNDIRECTED_H

#include "common/graph/graph.h"
#include "common/base/err.h"

/* Adds up both directions: edge (a, b) and edge (b, a) each have the sum of what a sent to b and b to a. The result has
 * no layers, calls and title. Its total_* stay those of the graph given. 0, -ENOMEM, -EOVERFLOW. */
int graph_undirected(struct zgraph **, const struct zgraph *, struct zerr *);

#endif
