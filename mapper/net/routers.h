/* SPDX-License-Identifier: BSD-3-Clause */
/* Routers joined in any way: distances between them, all shortest paths, and what links carry. For topologies whose
 * shortest paths have no simple form. The first routers are ends: they have nodes, and are the points of the network.
 * Each cable is two links, one for each direction; there may be several cables between two routers. */
#ifndef ZIP_MAPPER_ROUTERS_H
#define ZIP_MAPPER_ROUTERS_H

#include "mapper/net/net.h"

#define ROUTERS_HOPS_MAX (NET_SLOTS_MAX / 2)
#define ROUTERS_CELLS_MAX (1u << 27) /* routers x ends, with 5 bytes each */
#define ROUTERS_WAYS_MAX 0x7fffffffu /* shortest paths between two routers */

struct routers_link {
	uint32_t from, to;
	double bandwidth; /* bytes a second */
};

struct routers {
	uint32_t n, ends;
	struct routers_link *link; /* by `from`, then by `to`; link i of the network is link[i - 1], link 0 is void */
	uint32_t links;
	uint32_t *first;   /* [n + 1]: router r has link[first[r]] to link[first[r + 1] - 1] */
	uint8_t *hops;	   /* [ends][n]: from router to end */
	uint32_t *ways;	   /* [ends][n]: shortest paths from router to end */
	uint32_t diameter; /* hops, from any router to an end; at least 1 */
};

/* A network of such routers begins so. */
struct routers_net {
	struct net net;
	struct routers routers;
};

/* Takes over `link`, from malloc, with both links of each cable, and sorts it. 0; -ENOMEM; or, with two routers in
 * `pair`: -ENETUNREACH if no path leads from the first to the second, -ERANGE if the path or the number of paths is
 * too long. Free with routers_free in any case. */
int routers_make(struct routers *, uint32_t n, uint32_t ends, struct routers_link *link, uint32_t links,
	uint32_t pair[2]);
void routers_free(struct routers *);
/* Makes the links of the network, all of a class, with bandwidths, points and slots. 0 or -ENOMEM. */
int routers_init_net(struct routers_net *, const struct net_ops *, enum net_class, struct zerr *);

/* Operations of net_ops. Paths are in the order of their links. An indirect path goes over any end. Deterministic
 * routing takes, of the n links that lead on towards d, number d modulo n. */
uint32_t routers_direct_count(const struct net *, uint32_t s, uint32_t d);
void routers_direct(const struct net *, uint32_t s, uint32_t d, uint32_t k, uint32_t *link);
uint32_t routers_single(const struct net *, uint32_t s, uint32_t d);
void routers_indirect(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link);

#endif
