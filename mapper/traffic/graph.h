/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication graphs from files of any format: zipmap.graph(5), or those of graph_text.h. */
#ifndef ZIP_MAPPER_GRAPH_H
#define ZIP_MAPPER_GRAPH_H

#include <stdint.h>

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/base/err.h"

/* Any format. As zgraph_load; "path:line: reason" for text, which is refused where select asks for more than it can
 * have. */
int graph_load(struct zgraph **, const char *path, const struct zgraph_select *, struct zerr *);
/* Only the number of ranks. */
int graph_peek(const char *path, uint64_t *ranks, struct zerr *);

#endif
