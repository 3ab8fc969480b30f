/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges ranks between nodes. */
#ifndef ZIP_MAPPER_MAP_SWAP_H
#define ZIP_MAPPER_MAP_SWAP_H

#include "mapper/map/map_filling.h"

/* Exchanges two ranks of a class as long as that makes the weight between nodes lighter. Every rank must have a node. 0
 * or -ENOMEM. */
int map_swap_ranks(struct map_filling *, struct zerr *);

#endif
