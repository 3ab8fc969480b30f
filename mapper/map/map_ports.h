/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports by which nodes, and zippers without ranks, are on their networks. An ordinary node has one, a zipper node
 * one for each network; all zippers of a host share them, but for those on adapters of their own. */
#ifndef ZIP_MAPPER_MAP_PORTS_H
#define ZIP_MAPPER_MAP_PORTS_H

#include "mapper/site/map_site.h"

struct map_port {
	uint32_t node; /* MAP_NONE: of a host that can have no ranks */
	int zipper;    /* the first one of its host in the hostfile; -1: it has none */
	uint32_t fabric;
	const struct zaddr *addr; /* of a zipper; NULL: not known */
	uint32_t next;		  /* port of the same zipper, or MAP_NONE */
	uint64_t out, in;	  /* bytes */
	uint64_t own_out, own_in; /* of these, without what rails carry */
};

struct map_ports {
	struct map_port *port; /* [n]; port i < nnodes is node i's to the network of its own cluster */
	uint32_t n;
	uint32_t *more;	  /* [nnodes]: the first of a zipper node's others, which follow each other by cluster */
	uint32_t *zipper; /* those of all ports of all zippers in the hostfile's order */
};

/* 0 or -ENOMEM; free it in any case. */
int map_ports_create(struct map_ports *, const struct map_site *);
void map_ports_free(struct map_ports *);
/* The port of a node to one of its networks. */
uint32_t map_ports_find(const struct map_ports *, const struct map_site *, uint32_t node, uint32_t fabric);
/* "port of HOST", with the network where the host has several. */
void map_ports_name(const struct map_ports *, const struct map_site *, uint32_t port, char *buf, size_t size);

#endif
