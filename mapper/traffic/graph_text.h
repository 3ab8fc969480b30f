/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs as text: METIS (undirected: each edge is a message each way) and Matrix Market coordinate (entry i, j: a
 * message from i to j; symmetric: both ways). A weight is bytes; entries of weight 0 are none. */
#ifndef ZIP_MAPPER_GRAPH_TEXT_H
#define ZIP_MAPPER_GRAPH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/graph/graph.h"
#include "common/base/err.h"

/* The format is told from the first line. 0, -ENOMEM, -EINVAL ("path:line: reason"), or why it cannot be opened. */
int graph_text_read(struct zgraph **, const char *path, bool keep_self, struct zerr *);
/* Only the number of vertices. */
int graph_text_peek(const char *path, uint64_t *ranks, struct zerr *);

/* METIS: edges with the mean of the two directions' bytes, rounded up; messages without bytes and a rank's own are left
 * out. Matrix Market: all edges, their bytes exactly. 0 or a negative errno; then there is no file. */
int graph_metis_write(const struct zgraph *, const char *path, struct zerr *);
int graph_market_write(const struct zgraph *, const char *path, struct zerr *);

#endif
