/* SPDX-License-Identifier: BSD-3-Clause */
/* From two sides to a vertex cut: the fewest ranks whose removal separates the sides. */
#ifndef ZIP_MAPPER_MAP_VERTEXCUT_H
#define ZIP_MAPPER_MAP_VERTEXCUT_H

#include "mapper/search/map_problem.h"

/* Moves the least number of ranks of classes a and b that touch all messages between the two into class `between`. This
 * is a least vertex cover of a bipartite graph, by Koenig from a greatest matching of Hopcroft and Karp. class[n] of
 * the problem's graph. 0 or -ENOMEM. */
int map_vertexcut_make(const struct map_problem *, uint32_t a, uint32_t b, uint32_t between, uint8_t *class,
	struct zerr *);

#endif
