/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of nodes, and of zippers without ranks, to their networks. An ordinary node has one port. A zipper node has
 * one for each network. All zippers of a host share its ports, except for zippers on adapters of their own. */
#ifndef ZIP_MAPPER_MAP_PORTS_H
#define ZIP_MAPPER_MAP_PORTS_H

#include "mapper/site/map_site.h"

struct map_port {
	uint32_t node; /* MAP_NONE: of a host that can have no ranks */
	int zipper;    /* the first zipper of its host in the hostfile; -1: none */
	uint32_t fabric;
	const struct zaddr *addr; /* a zipper's address; NULL: not known */
	uint32_t next;		  /* next port of the same zipper, or MAP_NONE */
	uint64_t out, in;	  /* bytes */
	uint64_t own_out, own_in; /* of these, without the bytes that rails carry */
};

struct map_ports {
	struct map_port *port; /* [n]; port i < nnodes leads from node i to the network of its own cluster */
	uint32_t n;
	uint32_t *more;	  /* [nnodes]: the first of a zipper node's other ports, which follow each other by cluster */
	uint32_t *zipper; /* the ports of all zippers, in the hostfile's order */
};

/* Makes all ports, without bytes. 0 or -ENOMEM; free it in any case. */
int map_ports_create(struct map_ports *, const struct map_site *);
void map_ports_free(struct map_ports *);
/* The port of a node to one of its networks. */
uint32_t map_ports_find(const struct map_ports *, const struct map_site *, uint32_t node, uint32_t fabric);
/* Writes "port of HOST", with the network where the host has several. */
void map_ports_name(const struct map_ports *, const struct map_site *, uint32_t port, char *buf, size_t size);

#endif
