/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a search starts: assignments of ranks to classes that METIS, Scotch or a simple rule makes. They need not obey
 * slots and rules: map_state_repair sees to that. All of them write class[n] of the problem's graph.
 */
#ifndef ZIP_MAPPER_MAP_START_H
#define ZIP_MAPPER_MAP_START_H

#include "mapper/search/map_problem.h"

/* How many ranks each cluster's ordinary nodes shall have; what is over goes to the zipper nodes by repair. */
struct map_split {
	uint32_t want[64];
};

/* The class of the ordinary nodes of a cluster that has most slots; MAP_NONE: there are none. */
uint32_t map_start_side(const struct map_site *, uint32_t cluster);
/* The zipper class between two clusters that has most slots, or MAP_NONE. */
uint32_t map_start_between(const struct map_site *, uint32_t a, uint32_t b);

/* Parts of these sizes with a light cut, by METIS; the pieces are dealt to the clusters so that what is forwarded far
 * is light. round: another one, another result. 0, -ENOMEM. */
int map_start_pieces(const struct map_problem *, const struct map_split *, unsigned round, uint8_t *class,
	struct zerr *);
/* Two halves and the ranks between them, by METIS' vertex separator: for two clusters and a zipper between. */
int map_start_separator(const struct map_problem *, uint32_t a, uint32_t b, uint32_t between, unsigned round,
	uint8_t *class, struct zerr *);
/* From two sides to an edge cut: all ranks of `a` that talk to `b` go to `between`. */
void map_start_border(const struct map_problem *, uint32_t a, uint32_t b, uint32_t between, uint8_t *class);
/* Grows classes one after another along the graph from a rank on, in this order of classes: all in one cluster, if it
 * is large enough. */
int map_start_grow(const struct map_problem *, const uint32_t *order, uint32_t norder, uint32_t from, uint8_t *class,
	struct zerr *);

#endif
