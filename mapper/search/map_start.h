/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a search starts: assignments of ranks to classes by METIS or by a simple rule. They need not obey slots and
 * rules; map_state_repair sees to that. All functions fill class[n] of the problem's graph. */
#ifndef ZIP_MAPPER_MAP_START_H
#define ZIP_MAPPER_MAP_START_H

#include "mapper/search/map_problem.h"

/* The wanted number of ranks on each cluster's ordinary nodes. Repair moves surplus ranks to the zipper nodes. */
struct map_split {
	uint32_t want[64];
};

/* The class with most slots among those of the cluster's ordinary nodes; MAP_NONE: there is none. */
uint32_t map_start_side(const struct map_site *, uint32_t cluster);
/* The class with most slots among those of the zipper nodes between two clusters; MAP_NONE: there is none. */
uint32_t map_start_between(const struct map_site *, uint32_t a, uint32_t b);

/* Partitions the graph into pieces of these sizes with a light cut, by METIS. Deals the pieces to the clusters so that
 * little has to be forwarded far. round: another round gives another result. 0, -ENOMEM. */
int map_start_pieces(const struct map_problem *, const struct map_split *, unsigned round, uint8_t *class,
	struct zerr *);
/* Makes two halves and the ranks between them by METIS' vertex separator, for two clusters and a zipper between them.
 */
int map_start_separator(const struct map_problem *, uint32_t a, uint32_t b, uint32_t between, unsigned round,
	uint8_t *class, struct zerr *);
/* From two sides to an edge cut: moves all ranks of `a` that talk to `b` to `between`. */
void map_start_border(const struct map_problem *, uint32_t a, uint32_t b, uint32_t between, uint8_t *class);
/* Grows classes one after another along the graph, from a rank on and in the given order of classes. All ranks stay in
 * one cluster, if it is large enough. */
int map_start_grow(const struct map_problem *, const uint32_t *order, uint32_t norder, uint32_t from, uint8_t *class,
	struct zerr *);

#endif
