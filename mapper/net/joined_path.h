/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a joined network: legs inside the members, and crossings between them. */
#ifndef ZIP_MAPPER_JOINED_PATH_H
#define ZIP_MAPPER_JOINED_PATH_H

#include "mapper/net/joined.h"

/* One crossing on the way from s to d: over zipper z into the next member, where it comes out at `after`. */
struct crossing {
	const struct zipper *z;
	struct spot after;
	uint32_t before; /* paths from s to the zipper */
	uint64_t behind; /* paths from there to d */
	uint64_t weight; /* share of all crossings: the number of its paths; or the same for each zipper that carries */
};

/* Finds the member that a point of the joined network belongs to, and the point there. */
struct spot joined_path_spot(const struct joined *, uint32_t point);
/* Lists the crossings that are possible next on the way from s to d. Returns their number, which is not 0. `list` has
 * room for all zippers. */
uint32_t joined_path_crossings(const struct joined *, struct spot s, struct spot d, struct crossing *list);
/* Writes the links of a crossing that starts at s and, if it is the last one, ends at d. Returns the end of the links
 * written. A rank on the zipper node does not pass the port on its own side, and nothing is forwarded for it. */
uint32_t *joined_path_cross(const struct joined *, struct spot s, struct spot d, const struct crossing *,
	uint32_t *link);

/* The operations direct_count, direct, single and indirect of net_ops. Deterministic routing is that of the member for
 * messages inside it; between members the destination chooses among the paths over all zippers. Two points that are one
 * zipper node can be joined by no link at all: this is one path, of void links. */
uint32_t joined_path_direct_count(const struct net *, uint32_t s, uint32_t d);
void joined_path_direct(const struct net *, uint32_t s, uint32_t d, uint32_t k, uint32_t *link);
uint32_t joined_path_single(const struct net *, uint32_t s, uint32_t d);
void joined_path_indirect(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link);

#endif
