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

#endif
