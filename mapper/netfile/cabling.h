/* SPDX-License-Identifier: BSD-3-Clause */
/* The routers, nodes and cables that a file lists, while it is read. mapper/net/filenet.h makes a network of them.
 * Texts of errors do not name the place in the file: the caller puts it in front. One thread. */
#ifndef ZIP_MAPPER_CABLING_H
#define ZIP_MAPPER_CABLING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/names.h"

#define CABLING_NAME_MAX 64 /* characters of a router's name */
#define CABLING_CABLES_MAX (UINT32_MAX / 8)

/* Cables between two routers that are alike. */
struct cabling_link {
	uint32_t from, to, cables;
	double bandwidth; /* bytes a second, of each cable, each way */
};

/* Zeroed, it is empty. */
struct cabling {
	struct names routers, nodes; /* nodes: those that have names */
	uint32_t *count;	     /* [routers.n]: nodes at each router, with a name and without */
	uint32_t *place;	     /* [nodes.n]: the router of each node */
	struct cabling_link *link;
	size_t links, room;
	uint64_t cables; /* of all links */
};

/* Adds a router with this number of nodes without names. router, which may be NULL, becomes its number: routers are
 * numbered in their order. 0, -EINVAL (no such name; there already), -E2BIG, -ENOMEM. */
int cabling_add_router(struct cabling *, const char *name, uint32_t nodes, uint32_t *router, struct zerr *);
/* Adds a node with a name to a router. 0, -EINVAL, -E2BIG, -ENOMEM. */
int cabling_add_node(struct cabling *, const char *name, uint32_t router, struct zerr *);
/* Adds cables between two different routers. 0, -E2BIG, -ENOMEM. */
int cabling_add_link(struct cabling *, const struct cabling_link *, struct zerr *);
void cabling_free(struct cabling *);

#endif
