/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that use the network at the same time. Each job is a pattern on a piece of the machine. */
#ifndef ZIP_MAPPER_WORKLOAD_H
#define ZIP_MAPPER_WORKLOAD_H

#include "mapper/model/job_room.h"
#include "mapper/net/net.h"
#include "mapper/traffic/pattern.h"
#include "mapper/model/routing.h"
#include "mapper/traffic/traffic.h"

struct job {
	struct pattern *pattern;
	const struct routing *routing; /* NULL: the routing of the prediction */
	/* The job's piece of the placement's order. Where some nodes are free in part, job_room_fill finds it instead
	 */
	uint32_t first, nodes;
};

struct workload {
	struct job *jobs;
	unsigned njobs;
};

/* Makes the jobs from statements "PATTERN[:DIMS] [share:PERCENT|nodes:N|ranks:N] [routing:NAME] [key:value of the
 * pattern ...]", one for each job. A job without a size takes as many nodes as its dimensions need; if it is alone, it
 * takes all nodes. placed: a map says where the ranks are, so they need not fit the nodes in order. 0 or a negative
 * errno with the reason. */
int workload_create(struct workload *, const struct net *, struct spec_list *, uint64_t seed, bool placed,
	struct zerr *);
/* As workload_create, of a network in which other jobs run. Only free nodes count. Where some are free in part, a
 * number of nodes stands for as many ranks as these nodes have when they are free, and a share is one of the free
 * cores. */
int workload_create_in(struct workload *, const struct net *, const struct job_room *, struct spec_list *,
	uint64_t seed, bool placed, struct zerr *);
void workload_free(struct workload *);

/* The statements of the paper's workload 1..4 (Table II), or NULL. */
const char *workload_preset(const char *name);

/* Builds the traffic of a job. Its nodes have this order; or, if map is not NULL, rank r is at point map[r]. */
int workload_traffic(const struct net *, const struct job *, const uint32_t *order, const uint32_t *map,
	unsigned threads, struct traffic *, struct zerr *);

#endif
