/* SPDX-License-Identifier: BSD-3-Clause */
/* The joined network's own data, shared by its files: joined.c (description), joined_path.c (paths), joined_load.c
 * (loads). */
#ifndef ZIP_MAPPER_JOINED_H
#define ZIP_MAPPER_JOINED_H

#include <stdbool.h>

#include "mapper/net/net.h"

#define JOINED_MEMBERS_MAX 16
#define ZIPPER_SLOTS 3 /* links of a crossing: in, forward, out */
#define JOINED_NONE UINT32_MAX

struct joined_member {
	const char *name; /* points into the joined network's memory */
	struct net *net;
	uint32_t first_node, first_point, first_link;
};

struct zipper {
	char *name;
	uint32_t point[JOINED_MEMBERS_MAX]; /* point in the member; JOINED_NONE: not attached */
	uint32_t link; /* first of nmembers x nmembers links: [a][a] in from a, [a][b] forward from a to b */
	uint32_t out;  /* first of nmembers links: out to a */
	bool carries;  /* see joined_forward_by */
};

struct joined {
	struct net net;
	struct joined_member member[JOINED_MEMBERS_MAX];
	uint32_t nmembers;
	struct zipper *zipper;
	uint32_t nzippers;
	/* messages between members that zippers with `carries` join go through these zippers alone, evenly */
	bool some_carry;
	uint32_t next[JOINED_MEMBERS_MAX]
		     [JOINED_MEMBERS_MAX]; /* the next member on the way from one member to another */
	char *names[JOINED_MEMBERS_MAX];
};

/* A point of the joined network: its member, and the point there. */
struct spot {
	uint32_t member, point;
};

static inline bool zipper_joins(const struct zipper *z, uint32_t a, uint32_t b)
{
	return z->point[a] != JOINED_NONE && z->point[b] != JOINED_NONE;
}

extern const struct net_ops joined_ops;

/* Adds a zipper, by its name, to those that carry a job. From the first call on these zippers alone forward between the
 * networks that they join, and each carries the same share, however many paths lead to it. NULL makes all zippers
 * forward again, in proportion to their paths. 0 or -ENOENT. */
int joined_forward_by(struct joined *, const char *zipper);

#endif
