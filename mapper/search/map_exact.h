/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of all maps of a few ranks: a search of the tree of all assignments to classes, in which branches that
 * cannot become better than the best so far are left out. One thread. */
#ifndef ZIP_MAPPER_MAP_EXACT_H
#define ZIP_MAPPER_MAP_EXACT_H

#include "mapper/search/map_state.h"

#define MAP_EXACT_RANKS_MAX 16u

/* For no more than MAP_EXACT_RANKS_MAX ranks. state: of the problem, in any state; it is only read. class[n], *least
 * and *any: the best assignment so far, its cost, and whether there is one; what is found must cost less, and obeys
 * rules and slots. work: prices of a rank in a class that are looked at, about 4 ns each. 0, 1 (the work was not
 * enough: there may be better ones), -ENOMEM. */
int map_exact_search(const struct map_state *state, uint64_t work, uint8_t *class, map_cost *least, bool *any,
	struct zerr *);

#endif
