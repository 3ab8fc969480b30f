/* SPDX-License-Identifier: BSD-3-Clause */
/* What a map puts on the links that a picture shows: from each node to the network of its cluster, and from each zipper
 * node to each of its networks. Bytes of both directions. */
#ifndef ZIP_MAPPER_MAP_LINKS_H
#define ZIP_MAPPER_MAP_LINKS_H

#include "mapper/map/map_make.h"

struct map_link {
	uint64_t bytes[MAP_KINDS];
};

/* A place is a node of the site, or behind these a zipper that has no host line. */
struct map_links {
	struct map_link *node;	     /* [nplaces]: of ordinary nodes */
	struct map_link (*port)[64]; /* [nplaces]: of zipper nodes, to each cluster's network */
	uint64_t *ports;	     /* [nplaces]: bits of these clusters */
	int *zipper;		     /* [nplaces]: of the hostfile, the first of its lines; -1: an ordinary node */
	uint32_t nplaces;
	struct map_link most; /* bytes[0]: the largest sum of a link */
};

/* As map_predict has it: bytes count at their ends' links, and what zippers share at every port that it passes. 0 or
 * -ENOMEM. */
int map_links_make(struct map_links *, const struct map_make *, enum map_candidate);
void map_links_free(struct map_links *);
uint64_t map_links_sum(const struct map_link *);
void map_links_add(struct map_link *to, const struct map_link *);

#endif
