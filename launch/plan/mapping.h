/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes the ranks as a placement map says (--map), and tells which of them run on zipper nodes. */
#ifndef ZIP_LAUNCH_MAPPING_H
#define ZIP_LAUNCH_MAPPING_H

#include "launch/plan/plan.h"

/*
 * Fills parts, hosts and vranks of an empty plan from the map that the options name. Ranks of a part are numbered host
 * by host, hosts in the order of their lowest vrank: so rank 0 of the world, which gets our standard input, is rank 0
 * of its part. hosts NULL: --clusters; the nodes are then c1, c2, ... and zipper, which is attached to all of them and
 * stands for c1 where the map names no cluster. 0 or a negative errno with the reason.
 */
int zmapping_make(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);

/* Ranks on zipper nodes of a plan without map, which Hydra places slot by slot. 0 or -ENOMEM. */
int zmapping_find_ports(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);

#endif
