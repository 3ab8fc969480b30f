/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clusters one job can span. A job's bridged messages all go through one zipper, the first one of the hostfile
 * with a port on every cluster that has ranks (route.c of zmpirun, join.c of libzip). */
#ifndef ZIP_MAPPER_MAP_JOB_H
#define ZIP_MAPPER_MAP_JOB_H

#include "map_layout.h"
#include "map_rules.h"

/* Where no zipper joins all clusters with slots, takes the slots of some away: all but those of the first cluster, or
 * else of the first zipper, that has room for all ranks. Sets the ways between fabrics to those of that zipper. Classes
 * are to be made anew. 0, -ENETUNREACH (no zipper has such clusters), -E2BIG, -ENOMEM. */
int map_job_choose(struct map_site *, const struct map_rules *, struct zerr *);

/* The zipper that carries what is bridged in this layout; -1: all ranks are in one cluster's job. -ENETUNREACH: none
 * joins its clusters, so that it cannot be run. */
int map_job_zipper(const struct map_site *, const struct map_layout *, int *zipper, struct zerr *);

#endif
