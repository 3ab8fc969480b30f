/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes the ranks by a placement map (--map), and finds out which ranks run on zipper nodes. */
#ifndef ZIP_LAUNCH_MAPPING_H
#define ZIP_LAUNCH_MAPPING_H

#include "launch/plan/plan.h"

/*
 * Fills parts, hosts and vranks of an empty plan from the map that the options name. Ranks of a part are numbered host
 * by host; the hosts follow each other by their lowest vrank. Rank 0 of the world, which gets our standard input, is
 * therefore rank 0 of its part.
 *
 * hosts is NULL with --clusters. The nodes are then c1, c2, ... and zipper. The node zipper is attached to all
 * clusters, and stands for c1 where the map names no cluster. 0 or a negative errno with the reason.
 */
int zmapping_make(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);

/* Finds the ranks on zipper nodes in a plan without a map, where Hydra places ranks slot by slot. 0 or -ENOMEM. */
int zmapping_find_ports(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);

#endif
