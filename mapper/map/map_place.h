/* SPDX-License-Identifier: BSD-3-Clause */
/* From classes to nodes: which node each rank runs on, where its class is known. One thread. */
#ifndef ZIP_MAPPER_MAP_PLACE_H
#define ZIP_MAPPER_MAP_PLACE_H

#include "mapper/map/map_layout.h"

/* Gives each rank a node of its class[rank], so that the weight between nodes becomes light. 0, -ENOSPC, -ENOMEM. */
int map_place_ranks(struct map_layout *, const struct map_problem *, const uint8_t *class, struct zerr *);
/* Exchanges ranks inside their classes as long as that makes the weight between nodes lighter. Nothing else changes. 0
 * or -ENOMEM. */
int map_place_refine(struct map_layout *, const struct map_problem *, struct zerr *);

#endif
