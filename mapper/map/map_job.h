/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clusters one job can span. A job's bridged messages go through the zippers of the hostfile with a port on every
 * cluster that has ranks, and are spread over these; where there is none, through all that lie between its clusters, by
 * hops (common/hosts/hostways.h, as zmpirun and libzip have it). */
#ifndef ZIP_MAPPER_MAP_JOB_H
#define ZIP_MAPPER_MAP_JOB_H

#include "common/hosts/hostways.h"
#include "mapper/map/map_layout.h"
#include "mapper/site/map_rules.h"

/* Those that carry a job, and how its ranks reach them. */
struct map_zippers {
	uint32_t n; /* ways.nzippers; 0: nothing is bridged */
	struct zhostways ways;
	int part[64]; /* number among the parts of ways, of each cluster that has ranks */
};

/* Where no zipper (or too few: map_site.rails) joins all clusters with slots, takes the slots of some away: all but
 * those of the first cluster, or else of the first zipper, or else of clusters that several zippers in a row join, that
 * has room for all ranks. Then the site has the ways of a job in these clusters. Classes are to be made anew. 0,
 * -ENETUNREACH (there are no such clusters), -E2BIG, -ENOMEM. */
int map_job_choose(struct map_site *, const struct map_rules *, struct zerr *);

/* Bits of the clusters that have ranks. */
uint64_t map_job_clusters(const struct map_layout *);
/* The zippers that carry what is bridged in this layout; none: all ranks are in one cluster's job. Free with
 * map_job_zippers_free. -ENETUNREACH, -E2BIG with text: none join its clusters, or too few or too many, so that it
 * cannot be run. -ENOMEM. */
int map_job_zippers(const struct map_site *, const struct map_layout *, struct map_zippers *, struct zerr *);
void map_job_zippers_free(struct map_zippers *);
/* How many zippers what one of them carries from the job of a cluster to that of another one passes; 0: it carries
 * nothing between these. */
unsigned map_job_zippers_passed(const struct map_zippers *, uint32_t rail, uint32_t from, uint32_t to);
/* The fewest of all: what is bridged goes by those. */
unsigned map_job_zippers_forwards(const struct map_zippers *, uint32_t from, uint32_t to);

#endif
