/* SPDX-License-Identifier: BSD-3-Clause */
/* A map in the making: node and cluster of each rank. */
#ifndef ZIP_MAPPER_MAP_LAYOUT_H
#define ZIP_MAPPER_MAP_LAYOUT_H

#include <stdint.h>

#include "common/base/err.h"
#include "mapper/search/map_problem.h"

struct map_layout {
	uint32_t n;
	uint32_t *node;	   /* [n]: node of the site */
	uint32_t *cluster; /* [n]: cluster whose native job the rank takes part in */
};

int map_layout_create(struct map_layout *, uint32_t n, struct zerr *);
int map_layout_copy(struct map_layout *, const struct map_layout *, struct zerr *);
void map_layout_free(struct map_layout *);

/* Ranks in their order fill nodes in their order, as zmpirun does without a map. Ranks with rules are placed first. 0,
 * -ENOMEM; -ENOSPC if this order has no place for some rank. */
int map_layout_block(struct map_layout *, const struct map_problem *, struct zerr *);
/* The thesis' layout (section 3.1): equally many ranks in each cluster, lower ranks in earlier clusters, as few nodes
 * as possible, and only zipperd on the zipper nodes. 0, -ENOMEM, -ENOSPC. */
int map_layout_pairs(struct map_layout *, const struct map_problem *, struct zerr *);
/* Each rank on a zipper node joins the native job that it exchanges most with. */
void map_layout_join(struct map_layout *, const struct map_problem *);
/* Fills class[n] with the class of each rank's node. 0, -ENOMEM; -ENOSPC if a node has more ranks than slots, or a rule
 * is broken. */
int map_layout_classes(const struct map_layout *, const struct map_problem *, uint8_t *class, struct zerr *);
/* The cost, as in map_problem.h. */
map_cost map_layout_cost(const struct map_layout *, const struct map_problem *);
/* The weight between ranks on different nodes. */
uint64_t map_layout_internode(const struct map_layout *, const struct map_graph *);

#endif
