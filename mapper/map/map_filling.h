/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes while they are filled with ranks: shared by map_place.c, map_grow.c and map_swap.c. The ranks of one class are
 * placed at a time; no rank moves to another class. One thread. */
#ifndef ZIP_MAPPER_MAP_FILLING_H
#define ZIP_MAPPER_MAP_FILLING_H

#include <stdbool.h>

#include "mapper/map/map_layout.h"
#include "mapper/map/map_room.h"

struct map_filling {
	const struct map_problem *p;
	struct map_layout *l;
	struct map_room room;
	uint32_t *want; /* [nnodes]: ranks that each node is to get */
};

static inline bool map_filling_fits(const struct map_filling *a, uint32_t v, uint32_t node)
{
	return map_room_fits(&a->room, v, node);
}

static inline void map_filling_put(struct map_filling *a, uint32_t v, uint32_t node)
{
	a->l->node[v] = node;
	map_room_put(&a->room, v, node);
}

static inline void map_filling_take(struct map_filling *a, uint32_t v)
{
	uint32_t node = a->l->node[v];

	a->l->node[v] = MAP_NONE;
	map_room_take(&a->room, v, node);
}

#endif
