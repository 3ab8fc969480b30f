/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs as text. METIS: undirected, each edge is a message each way. Matrix Market coordinate: entry i, j is a message
 * from i to j; a symmetric matrix means both ways. A weight is a number of bytes; entries of weight 0 are left out. */
#ifndef ZIP_MAPPER_GRAPH_TEXT_H
#define ZIP_MAPPER_GRAPH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/graph/graph.h"
#include "common/base/err.h"

/* The first line tells the format. 0, -ENOMEM, -EINVAL ("path:line: reason"), or a negative errno if the file cannot be
 * opened. */
int graph_text_read(struct zgraph **, const char *path, bool keep_self, struct zerr *);
/* Reads only the number of vertices. */
int graph_text_peek(const char *path, uint64_t *ranks, struct zerr *);

#endif
