/* SPDX-License-Identifier: BSD-3-Clause */
/* Better places for whole nodes by the network model. The ranks of a node are its crew; crews change places. */
#ifndef ZIP_MAPPER_MAP_CREWS_H
#define ZIP_MAPPER_MAP_CREWS_H

#include "mapper/map/map_fabric.h"

/* Exchanges crews inside a class of nodes as long as bytes x links of the shortest ways become less. Keeps the result
 * if the model says that the busiest link needs no more time. *moved: nodes whose crew has changed. 0 or a negative
 * errno with the reason. */
int map_crews_improve(const struct map_fabric *, const struct map_problem *, const struct zgraph *, struct map_layout *,
	uint32_t *moved, struct zerr *);

#endif
