/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the nodes of a class by growing each of them along the graph. */
#ifndef ZIP_MAPPER_MAP_GROW_H
#define ZIP_MAPPER_MAP_GROW_H

#include "mapper/map/map_filling.h"

/* Gives each rank of class c that has needs a node, as far as there are nodes with what it needs. To be called before
 * growing, which would spend these nodes on other ranks. */
void map_grow_needs(struct map_filling *, const uint8_t *class, uint32_t c);
/* Gives every rank of class c that has no node yet one, if it has what the rank needs. 0 or -ENOMEM. */
int map_grow_ranks(struct map_filling *, const uint8_t *class, uint32_t c, struct zerr *);

#endif
