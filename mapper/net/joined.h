/* SPDX-License-Identifier: BSD-3-Clause */
/* The joined network's own data, shared by its files: joined.c (description), joined_path.c (paths), joined_load.c
 * (loads). */
#ifndef ZIP_MAPPER_JOINED_H
#define ZIP_MAPPER_JOINED_H

#include <stdbool.h>

#include "mapper/net/net.h"

#define JOINED_PARTS_MAX 16
#define ZIPPER_SLOTS 3 /* in, forward, out */
#define JOINED_NONE UINT32_MAX

struct part {
	const char *name; /* in the joined net's memory */
	struct net *net;
	uint32_t first_node, first_point, first_link;
};

struct zipper {
	char *name;
	uint32_t point[JOINED_PARTS_MAX]; /* in the part; JOINED_NONE: not attached */
	uint32_t link;			  /* first of nparts x nparts: [a][a] in from a, [a][b] forward from a to b */
	uint32_t out;			  /* first of nparts: out to a */
	bool carries;			  /* see joined_forward_by */
};

struct joined {
	struct net net;
	struct part part[JOINED_PARTS_MAX];
	uint32_t nparts;
	struct zipper *zipper;
	uint32_t nzippers;
	bool some_carry; /* what is forwarded between parts that they join goes through these alone, evenly */
	uint32_t next[JOINED_PARTS_MAX][JOINED_PARTS_MAX]; /* the part to go to on the way from one to another */
	char *names[JOINED_PARTS_MAX];
};

/* A point of the joined network as part and point there. */
struct spot {
	uint32_t part, point;
};

/* One crossing on the way from s to d: over zipper z into the next part, `after` being where it comes out there. */
struct crossing {
	const struct zipper *z;
	struct spot after;
	uint32_t before; /* paths from s to the zipper */
	uint64_t behind; /* paths from there to d */
	uint64_t weight; /* its share of all: as many as it has paths, or the same for each that carries */
};

static inline bool zipper_joins(const struct zipper *z, uint32_t a, uint32_t b)
{
	return z->point[a] != JOINED_NONE && z->point[b] != JOINED_NONE;
}

/* From now on the zippers of this name forward, too, and none but those that are told so: each the same, however many
 * paths lead to it. NULL: all again, by their paths. 0, -ENOENT. */
int joined_forward_by(struct joined *, const char *zipper);
struct spot joined_spot(const struct joined *, uint32_t point);
/* The crossings that are possible next; their number, which is not 0. `list` has room for all zippers. */
uint32_t joined_crossings(const struct joined *, struct spot s, struct spot d, struct crossing *list);
/* The links of a crossing that starts at s and ends, if it is the last one, at d; returns where they end. A rank on the
 * zipper node does not pass the port on its own side, and nothing is forwarded for it. */
uint32_t *joined_crossing_fill(const struct joined *, struct spot s, struct spot d, const struct crossing *,
	uint32_t *link);

/* As net_ops has them. Two points that are one zipper node can be joined by no link at all: one path, of void links. */
uint32_t joined_direct_count(const struct net *, uint32_t s, uint32_t d);
void joined_direct(const struct net *, uint32_t s, uint32_t d, uint32_t k, uint32_t *link);
void joined_indirect(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link);
int joined_load_direct(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
int joined_load_indirect(const struct net *, const struct traffic *, unsigned threads, struct net_load *);

#endif
