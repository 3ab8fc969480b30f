/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clusters one job can span. A job's bridged messages go through the zippers that have a port on every cluster
 * with ranks, and are spread over these. Where there is no such zipper, they go over hops, through all zippers between
 * the clusters (common/hosts, as zmpirun and libzip do it). */
#ifndef ZIP_MAPPER_MAP_JOB_H
#define ZIP_MAPPER_MAP_JOB_H

#include "common/hosts/hostways.h"
#include "mapper/map/map_layout.h"
#include "mapper/site/map_rules.h"

/* The zippers that carry a job, and the ways of its ranks to them. */
struct map_zippers {
	uint32_t n; /* ways.nzippers; 0: nothing is bridged */
	struct zhostways ways;
	int part[64]; /* for each cluster that has ranks: the number of its part among the parts of ways */
};

/* Chooses the clusters of a job where no zipper, or too few (map_site.rails), join all clusters with slots. It takes
 * the slots of all other clusters away. The choice is the first that has room for all ranks: a single cluster, or the
 * clusters of a zipper, or clusters that several zippers in a row join. Afterwards the site has the ways of a job in
 * these clusters. Classes are to be made anew. 0, -ENETUNREACH (there are no such clusters), -E2BIG, -ENOMEM. */
int map_job_choose(struct map_site *, const struct map_rules *, struct zerr *);

/* Bits of the clusters that have ranks. */
uint64_t map_job_clusters(const struct map_layout *);
/* Finds the zippers that carry the bridged messages of this layout; none if all ranks are in one cluster's job. Free
 * with map_job_zippers_free. 0, -ENOMEM; -ENETUNREACH or -E2BIG with text if none, too few or too many zippers join the
 * clusters, so that the layout cannot be run. */
int map_job_zippers(const struct map_site *, const struct map_layout *, struct map_zippers *, struct zerr *);
void map_job_zippers_free(struct map_zippers *);
/* The number of zippers that a message passes on this rail, from the job of one cluster to that of another; 0: the rail
 * carries nothing between the two. */
unsigned map_job_zippers_passed(const struct map_zippers *, uint32_t rail, uint32_t from, uint32_t to);
/* The fewest zippers over all rails. Bridged messages use the rails that pass so few. */
unsigned map_job_zippers_forwards(const struct map_zippers *, uint32_t from, uint32_t to);

#endif
