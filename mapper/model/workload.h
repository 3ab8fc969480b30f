/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that use the network at the same time: each a pattern on a piece of the machine. */
#ifndef ZIP_MAPPER_WORKLOAD_H
#define ZIP_MAPPER_WORKLOAD_H

#include "mapper/net/net.h"
#include "mapper/traffic/pattern.h"
#include "mapper/model/routing.h"
#include "mapper/traffic/traffic.h"

struct job {
	struct pattern *pattern;
	const struct routing *routing; /* NULL: that of the prediction */
	uint32_t first, nodes;	       /* piece of the placement's order */
};

struct workload {
	struct job *jobs;
	unsigned njobs;
};

/* Statements "PATTERN[:DIMS] [share:PERCENT|nodes:N|ranks:N] [routing:NAME] [key:value of the pattern ...]", one a job.
 * A job without a size takes as many nodes as its dimensions need, or, if it is alone, all.
 * placed: something else says where the ranks are, so they need not fit the nodes in their order. */
int workload_create(struct workload *, const struct net *, struct spec_list *, uint64_t seed, bool placed,
	struct zerr *);
void workload_free(struct workload *);

/* Table II of the paper: the statements of workload 1..4, or NULL. */
const char *workload_preset(const char *name);

/* Traffic of a job with the nodes in this order; or, where map is not NULL, with rank r at point map[r]. */
int workload_traffic(const struct net *, const struct job *, const uint32_t *order, const uint32_t *map,
	unsigned threads, struct traffic *, struct zerr *);

#endif
