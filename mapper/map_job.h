/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clusters one job can span. A job's bridged messages go through the zippers of the hostfile with a port on every
 * cluster that has ranks (route.c of zmpirun, join.c of libzip), and are spread over these. */
#ifndef ZIP_MAPPER_MAP_JOB_H
#define ZIP_MAPPER_MAP_JOB_H

#include "control.h"
#include "map_layout.h"
#include "map_rules.h"

struct map_zippers {
	uint32_t n;
	int zipper[ZCTL_RAILS_MAX]; /* of the hostfile */
};

/* Where no zipper (or too few: map_site.rails) joins all clusters with slots, takes the slots of some away: all but
 * those of the first cluster, or else of the first zipper, that has room for all ranks. Then the site has the ways of a
 * job in these clusters. Classes are to be made anew. 0, -ENETUNREACH (no zipper has such clusters), -E2BIG, -ENOMEM.
 */
int map_job_choose(struct map_site *, const struct map_rules *, struct zerr *);

/* Bits of the clusters that have ranks. */
uint64_t map_job_clusters(const struct map_layout *);
/* The zippers that carry what is bridged in this layout; none: all ranks are in one cluster's job. -ENETUNREACH: none
 * joins its clusters, or too few, so that it cannot be run. */
int map_job_zippers(const struct map_site *, const struct map_layout *, struct map_zippers *, struct zerr *);

#endif
