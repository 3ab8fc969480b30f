/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a map puts the ranks of "zipmap model". */
#ifndef ZIP_MAPPER_MODEL_MAP_H
#define ZIP_MAPPER_MODEL_MAP_H

#include "common/base/err.h"
#include "mapper/net/net.h"

/* Reads a map into point[ranks], points of the network, and node[ranks], which are the caller's; node may be NULL.
 * Nodes are numbered as in the network, or, with a hostfile, as in struct map_site. hosts NULL: the map has lines "RANK
 * NODE". Otherwise hosts is the path of the hostfile of a map, zipper.map(5); the zippers that this job uses then
 * forward in the network from now on. 0 or a negative errno with the reason. */
int model_map_read(struct net *, const char *map, const char *hosts, uint32_t ranks, uint32_t *point, uint32_t *node,
	struct zerr *);

#endif
