/* SPDX-License-Identifier: BSD-3-Clause */
/* The dragonfly's own data, shared by its files: dragonfly.c (creation), dragonfly_wiring.c (level 2), dragonfly_path.c
 * (paths) and dragonfly_load.c (loads in closed form). */
#ifndef ZIP_MAPPER_DRAGONFLY_H
#define ZIP_MAPPER_DRAGONFLY_H

#include <stdbool.h>

#include "mapper/net/net.h"

/* One level-2 link of an ordered pair of groups. */
struct dragonfly_gate {
	uint16_t out;	 /* router in the source group, 0..A-1 */
	uint16_t port;	 /* level-2 port of that router */
	uint16_t in;	 /* router in the destination group */
	uint16_t bundle; /* links of this pair of groups; set in the first link */
};

#define DRAGONFLY_SLOTS 5 /* links of a shortest path between routers: two hops, level 2, two hops */

struct dragonfly_place {
	uint16_t group, local; /* router 0..A-1 in its group */
};

/* A router in its group and, at the end of a level-2 link, its port. */
struct dragonfly_end {
	uint16_t row, position; /* chassis, and position in the chassis */
	uint16_t local, port;
};

/* The numbering of the links from group g to the other groups, by the rule of a wiring: see dragonfly_index(). */
enum dragonfly_wiring { DRAGONFLY_MODULO, DRAGONFLY_ABSOLUTE, DRAGONFLY_CIRCULANT, DRAGONFLY_BY_FILE };

/* The choice of the intermediate router of an indirect path. */
enum dragonfly_rule {
	DRAGONFLY_ANY,	  /* "paper": any router of the machine */
	DRAGONFLY_OUTSIDE /* "release": see dragonfly_path_indirect() */
};

struct dragonfly {
	struct net net;
	uint32_t groups, chassis, width; /* width: routers of a chassis */
	uint32_t local;			 /* routers of a group: chassis x width */
	uint32_t routers;
	uint64_t local_inverse; /* ceil(2^64 / local), for local > 1 */
	uint32_t hosts;		/* nodes of a router */
	uint32_t bundle;	/* most level-2 links of a pair of groups */
	uint32_t ports;		/* level-2 ports of a router */
	uint32_t slots;		/* links of a router: width + chassis + ports */
	bool inject;		/* nodes have links of their own; points are then nodes, else routers */
	enum dragonfly_rule rule;
	enum dragonfly_wiring wiring;
	struct dragonfly_end *at;      /* [local]: the routers of a group; port 0 */
	struct dragonfly_end *end;     /* [links of a group], by dragonfly_index(); NULL for a wiring from a file */
	struct dragonfly_place *place; /* [routers] */
	struct dragonfly_gate *gates;  /* [groups][groups][bundle] */
	uint32_t *far;		       /* [routers][ports]: router at the other end; UINT32_MAX: idle */
};

extern const struct net_ops dragonfly_ops;

static inline const struct dragonfly_gate *dragonfly_gates(const struct dragonfly *d, uint32_t from, uint32_t to)
{
	return &d->gates[((size_t)from * d->groups + to) * d->bundle];
}

static inline uint32_t dragonfly_router(const struct dragonfly *d, uint32_t point)
{
	return d->inject ? point / d->hosts : point;
}

/* Level-1 hops between two routers of a group; and the number of shortest ways to make them. */
static inline uint32_t dragonfly_hops(const struct dragonfly *d, uint32_t a, uint32_t b)
{
	return (uint32_t)(d->at[a].row != d->at[b].row) + (d->at[a].position != d->at[b].position);
}

static inline uint32_t dragonfly_ways(const struct dragonfly *d, uint32_t a, uint32_t b)
{
	return 1 + ((d->at[a].row != d->at[b].row) & (d->at[a].position != d->at[b].position));
}

/* Index of the first link to group h among all links of group g. */
static inline uint32_t dragonfly_index(const struct dragonfly *d, uint32_t g, uint32_t h)
{
	if (d->wiring == DRAGONFLY_MODULO)
		return h;
	if (d->wiring == DRAGONFLY_ABSOLUTE)
		return h - (h > g);
	return h > g ? h - g - 1 : h + d->groups - g - 1;
}

/* The two links from router a to router b of the group that begins at router `base`: within the chassis first (order
 * 0), or between the chassis first (order 1). Where no hop is needed, the link is the router's link to its own row or
 * column, which is void. */
static inline void dragonfly_leg_ends(const struct dragonfly *d, uint32_t base, struct dragonfly_end a,
	struct dragonfly_end b, uint32_t order, uint32_t *link)
{
	/* A random order cannot be predicted, so it is chosen without a branch: x ^ ((x ^ y) & mask) is x or y. */
	uint32_t mask = -order, along = b.position, across = d->width + b.row, swap = (along ^ across) & mask;
	uint32_t row = a.row ^ ((uint32_t)(a.row ^ b.row) & mask);
	uint32_t position = b.position ^ ((uint32_t)(a.position ^ b.position) & mask);

	link[0] = (base + a.local) * d->slots + (along ^ swap);
	link[1] = (base + row * d->width + position) * d->slots + (across ^ swap);
}

static inline void dragonfly_leg(const struct dragonfly *d, uint32_t base, uint32_t a, uint32_t b, uint32_t order,
	uint32_t *link)
{
	dragonfly_leg_ends(d, base, d->at[a], d->at[b], order, link);
}

static inline uint32_t dragonfly_global(const struct dragonfly *d, uint32_t group, const struct dragonfly_gate *g)
{
	return (group * d->local + g->out) * d->slots + d->width + d->chassis + g->port;
}

#endif
