/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of all maps of a few ranks. Searches the tree of all assignments to classes, without branches that cannot
 * become better than the best assignment so far. One thread. */
#ifndef ZIP_MAPPER_MAP_EXACT_H
#define ZIP_MAPPER_MAP_EXACT_H

#include "mapper/search/map_state.h"

#define MAP_EXACT_RANKS_MAX 16u

/* Searches all assignments of at most MAP_EXACT_RANKS_MAX ranks. state: of the problem, in any state; it is only read.
 * class[n], *least and *any: the best assignment so far, its cost, and whether there is one. An assignment that is
 * found costs less, and obeys rules and slots. work: the number of prices to look at, about 4 ns each. 0, 1 (the work
 * was not enough: there may be better ones), -ENOMEM. */
int map_exact_search(const struct map_state *state, uint64_t work, uint8_t *class, map_cost *least, bool *any,
	struct zerr *);

#endif
