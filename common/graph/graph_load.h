/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading the selected edges of a communication graph's file into memory (graph.h). Any thread. */
#ifndef ZIP_COMMON_GRAPH_GRAPH_LOAD_H
#define ZIP_COMMON_GRAPH_GRAPH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/graph/graph.h"

struct zgraph_select {
	int64_t phase;	    /* one phase only; -1: all */
	unsigned classes;   /* bits 1 << enum zgraph_class; 0: all */
	bool keep_self;	    /* false: messages of a rank to itself are left out */
	uint64_t edges_max; /* a graph with more edges is refused with -EFBIG; 0: ZGRAPH_EDGES_MAX */
};

/* Loads the selected edges. select NULL: all, without messages of a rank to itself. Returns as zgraph_scan, or
 * -EFBIG. */
int zgraph_load(struct zgraph **, const char *path, const struct zgraph_select *, struct zerr *);

#endif
