/* SPDX-License-Identifier: BSD-3-Clause */
/* The room that is left on the nodes of a site while ranks are placed. One thread. */
#ifndef ZIP_MAPPER_MAP_ROOM_H
#define ZIP_MAPPER_MAP_ROOM_H

#include <stdbool.h>

#include "mapper/search/map_problem.h"

struct map_room {
	const struct map_problem *p;
	uint32_t *free;			     /* [nnodes]: slots */
	uint32_t (*limit)[MAP_FEATURES_MAX]; /* [nnodes]: ranks with a need that still fit */
};

/* All slots are free. 0 or -ENOMEM; free it in any case. */
int map_room_create(struct map_room *, const struct map_problem *, struct zerr *);
void map_room_free(struct map_room *);

/* Has the node a free slot, and all that the rank needs? Pins are not looked at. */
static inline bool map_room_fits(const struct map_room *r, uint32_t rank, uint32_t node)
{
	for (uint32_t f = 0; f < r->p->site->nfeatures; f++)
		if (r->p->rules->need[rank] >> f & 1 && !r->limit[node][f])
			return false;
	return r->free[node] > 0;
}

/* The rank takes its slot on the node. */
static inline void map_room_put(struct map_room *r, uint32_t rank, uint32_t node)
{
	r->free[node]--;
	for (uint32_t f = 0; f < r->p->site->nfeatures; f++)
		if (r->p->rules->need[rank] >> f & 1)
			r->limit[node][f]--;
}

/* The rank gives its slot on the node back. */
static inline void map_room_take(struct map_room *r, uint32_t rank, uint32_t node)
{
	r->free[node]++;
	for (uint32_t f = 0; f < r->p->site->nfeatures; f++)
		if (r->p->rules->need[rank] >> f & 1)
			r->limit[node][f]++;
}

#endif
