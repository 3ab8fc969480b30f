/* SPDX-License-Identifier: BSD-3-Clause */
/* A map in the making: node, cluster and cores of each rank. */
#ifndef ZIP_MAPPER_MAP_LAYOUT_H
#define ZIP_MAPPER_MAP_LAYOUT_H

#include <stdint.h>

#include "common/base/err.h"
#include "mapper/search/map_problem.h"

struct map_layout {
	uint32_t n;
	uint32_t *node;	   /* [n]: of the site */
	uint32_t *cluster; /* [n]: whose native job the rank takes part in */
};

int map_layout_create(struct map_layout *, uint32_t n, struct zerr *);
int map_layout_copy(struct map_layout *, const struct map_layout *, struct zerr *);
void map_layout_free(struct map_layout *);

/* The ranks in their order fill the nodes in theirs: what zmpirun does without a map. Ranks that a rule puts elsewhere
 * are placed first. -ENOSPC: it does not go like that. */
int map_layout_block(struct map_layout *, const struct map_problem *, struct zerr *);
/* The thesis' layout (section 3.1): as many ranks in each cluster, lower ones in earlier clusters, as few nodes as
 * possible, nothing but zipperd on the zipper nodes. */
int map_layout_pairs(struct map_layout *, const struct map_problem *, struct zerr *);
/* Each rank on a zipper node joins the native job with which it has most to do. */
void map_layout_join(struct map_layout *, const struct map_problem *);
/* The class of each rank's node into class[n]. -ENOSPC: a node has more ranks than slots, or a rule is broken. */
int map_layout_classes(const struct map_layout *, const struct map_problem *, uint8_t *class, struct zerr *);
/* As map_state has it. */
map_cost map_layout_cost(const struct map_layout *, const struct map_problem *);
/* Weight between ranks on different nodes. */
uint64_t map_layout_internode(const struct map_layout *, const struct map_graph *);

#endif
