/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes graphs as text for other programs. On an error there is no file. */
#ifndef ZIP_MAPPER_GRAPH_WRITE_H
#define ZIP_MAPPER_GRAPH_WRITE_H

#include "common/graph/graph.h"
#include "common/base/err.h"

/* METIS: an edge has the mean of the bytes of both directions, rounded up. Messages without bytes, and those of a rank
 * to itself, are left out. 0 or a negative errno. */
int graph_write_metis(const struct zgraph *, const char *path, struct zerr *);
/* Matrix Market: all edges, with their exact bytes. 0 or a negative errno. */
int graph_write_market(const struct zgraph *, const char *path, struct zerr *);

#endif
