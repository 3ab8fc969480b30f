/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads communication graphs of any format: zipmap.graph(5), or a format of graph_text.h. */
#ifndef ZIP_MAPPER_GRAPH_H
#define ZIP_MAPPER_GRAPH_H

#include <stdint.h>

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/base/err.h"

/* Reads a graph as zgraph_load does. Errors in text files have the form "path:line: reason". A text file is refused
 * where select asks for more than its format can hold. */
int graph_load(struct zgraph **, const char *path, const struct zgraph_select *, struct zerr *);
/* Reads only the number of ranks. */
int graph_peek(const char *path, uint64_t *ranks, struct zerr *);

#endif
