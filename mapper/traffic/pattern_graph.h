/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern from a communication graph: each edge is a message, or several where it has too many bytes for one. */
#ifndef ZIP_MAPPER_PATTERN_GRAPH_H
#define ZIP_MAPPER_PATTERN_GRAPH_H

#include "mapper/traffic/pattern.h"

extern const struct pattern_ops pattern_graph;

/* The edges of a graph as messages. Bytes of the file are units of the pattern's `bytes`. */
struct pattern_edges {
	uint32_t ranks, degree; /* degree: most messages of a rank */
	uint64_t edges;
	uint64_t *off; /* [ranks + 1] */
	struct traffic_message *edge;
};

/* Reads a graph of any format, with all its phases and classes. 0 or a negative errno. Free with
 * pattern_graph_destroy. */
int pattern_graph_read(struct pattern_edges **, const char *path, struct zerr *);
void pattern_graph_destroy(struct pattern_edges *);

#endif
