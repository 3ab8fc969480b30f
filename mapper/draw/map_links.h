/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic that a map puts on the links of a picture: from each node to the network of its cluster, and from each
 * zipper node to each of its networks. Bytes of both directions. */
#ifndef ZIP_MAPPER_MAP_LINKS_H
#define ZIP_MAPPER_MAP_LINKS_H

#include "mapper/map/map_make.h"

struct map_link {
	uint64_t bytes[MAP_KINDS];
};

/* A place is a node of the site. Zippers without a host line are places behind the nodes. */
struct map_links {
	struct map_link *node;	     /* [nplaces]: of ordinary nodes */
	struct map_link (*port)[64]; /* [nplaces]: of zipper nodes, to each cluster's network */
	uint64_t *ports;	     /* [nplaces]: bits of these clusters */
	int *zipper; /* [nplaces]: the first of the zipper's lines in the hostfile; -1: an ordinary node */
	uint32_t nplaces;
	struct map_link most; /* bytes[0]: the largest sum of a link */
};

/* Adds up the links as map_predict does: bytes count at the links of both ends, and shares of zippers at every port
 * that they pass. 0 or -ENOMEM. */
int map_links_make(struct map_links *, const struct map_make *, enum map_candidate);
void map_links_free(struct map_links *);
uint64_t map_links_sum(const struct map_link *);
void map_links_add(struct map_link *to, const struct map_link *);

#endif
