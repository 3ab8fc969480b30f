/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the file of a communication graph (graph.h) from beginning to end, with a visitor. Any thread. */
#ifndef ZIP_COMMON_GRAPH_GRAPH_SCAN_H
#define ZIP_COMMON_GRAPH_GRAPH_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/graph/graph.h"

struct zgraph_header {
	uint32_t ranks;
	unsigned model;
	bool timed; /* rows may have times */
	char title[ZGRAPH_TITLE_MAX + 1];
};

/* Functions that zgraph_scan calls in the order of the file. Each may be NULL. A nonzero result ends the reading, and
 * zgraph_scan returns it. */
struct zgraph_visitor {
	int (*header)(void *ctx, const struct zgraph_header *, struct zerr *);
	int (*row)(void *ctx, uint32_t rank, struct zerr *); /* before the calls, runs and times of the rank */
	int (*call)(void *ctx, uint32_t rank, const struct zgraph_call *, struct zerr *);
	int (*run)(void *ctx, uint32_t rank, const struct zgraph_run *, struct zerr *);
	int (*time)(void *ctx, uint32_t rank, const struct zgraph_time *, struct zerr *);
};

/* Does the file begin as a recorded graph of any version does? Returns 1, 0, or a negative errno. */
int zgraph_scan_probe(const char *path, struct zerr *);
/* Reads and checks the whole file. Returns 0; -EINVAL ("path: byte N: reason") for a file that is wrong, truncated or
 * of another version; -ENOMEM; or the errno with which the file cannot be read. The visitor may have been called before
 * an error is found. */
int zgraph_scan(const char *path, const struct zgraph_visitor *, void *ctx, struct zerr *);

#endif
