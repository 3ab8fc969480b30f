/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which point of a network each node of a site is. The network is one topology (for a single cluster), or a joined one
 * with a part for each cluster and a zipper for each zipper node, all found by their names. The ordinary hosts of a
 * cluster are the nodes of its part that have their names, up to the first dot if need be; where the nodes of a part
 * have no names, in the order of the hostfile, without those that are zippers.
 */
#ifndef ZIP_MAPPER_MAP_POINTS_H
#define ZIP_MAPPER_MAP_POINTS_H

#include "mapper/net/net.h"
#include "mapper/site/map_site.h"

/* Fills point[nnodes of the site]. 0, -EINVAL with the reason, -ENOMEM. */
int map_points_find(const struct net *, const struct map_site *, uint32_t *point, struct zerr *);

#endif
