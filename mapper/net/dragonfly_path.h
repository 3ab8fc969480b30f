/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a dragonfly. A path between routers has DRAGONFLY_SLOTS links, of which some may be void. */
#ifndef ZIP_MAPPER_DRAGONFLY_PATH_H
#define ZIP_MAPPER_DRAGONFLY_PATH_H

#include "mapper/net/dragonfly.h"

/* The number of shortest paths from router s to router t; and the k-th of them. A router has one path to itself, of
 * void links. */
uint32_t dragonfly_path_count(const struct dragonfly *, struct dragonfly_place s, struct dragonfly_place t);
void dragonfly_path_between(const struct dragonfly *, struct dragonfly_place s, struct dragonfly_place t, uint32_t k,
	uint32_t *link);

/* Operations of net_ops. s and t are points. */
uint32_t dragonfly_path_direct_count(const struct net *, uint32_t s, uint32_t t);
void dragonfly_path_direct(const struct net *, uint32_t s, uint32_t t, uint32_t k, uint32_t *link);
void dragonfly_path_legs_list(const struct net *, uint32_t first, uint32_t n, struct net_leg *);
void dragonfly_path_fork(const struct net *, uint32_t s, uint32_t t, struct net_fork *);
void dragonfly_path_indirect(const struct net *, uint32_t s, uint32_t t, uint64_t bits, uint32_t *link);

#endif
