/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks on nodes in the making, shared by map_place.c (classes, METIS), map_grow.c and map_swap.c. The ranks of one
 * class are placed at a time; nothing here moves a rank to another class. One thread.
 */
#ifndef ZIP_MAPPER_MAP_PLACE_H
#define ZIP_MAPPER_MAP_PLACE_H

#include <stdbool.h>

#include "mapper/map/map_layout.h"

struct place {
	const struct map_problem *p;
	struct map_layout *l;
	uint32_t *free;			     /* [nnodes] */
	uint32_t (*limit)[MAP_FEATURES_MAX]; /* [nnodes]: ranks with a need that still fit */
	uint32_t *want;			     /* [nnodes]: ranks that it shall get */
};

static inline bool place_fits(const struct place *a, uint32_t v, uint32_t node)
{
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1 && !a->limit[node][f])
			return false;
	return a->free[node] > 0;
}

static inline void place_put(struct place *a, uint32_t v, uint32_t node)
{
	a->l->node[v] = node;
	a->free[node]--;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1)
			a->limit[node][f]--;
}

static inline void place_take(struct place *a, uint32_t v)
{
	uint32_t node = a->l->node[v];

	a->l->node[v] = MAP_NONE;
	a->free[node]++;
	for (uint32_t f = 0; f < a->p->site->nfeatures; f++)
		if (a->p->rules->need[v] >> f & 1)
			a->limit[node][f]++;
}

/* Ranks of class c with needs get a node each, as far as there are such nodes. Before growing: that would spend those
 * on others. */
void place_put_needs(struct place *, const uint8_t *class, uint32_t c);
/* All ranks of class c that have no node yet get one, if it has what they need. 0 or -ENOMEM. */
int place_grow(struct place *, const uint8_t *class, uint32_t c, struct zerr *);
/* When all have a node: exchanges of two ranks of a class, as long as they gain. 0 or -ENOMEM. */
int place_swap(struct place *, struct zerr *);

#endif
