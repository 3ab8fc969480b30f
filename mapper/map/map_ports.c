/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the ports: those of nodes first, then other ports of zippers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "mapper/map/map_ports.h"
#include "mapper/site/map_ways.h"
#include "common/hosts/hostfile_find.h"

/* Two ports have one adapter where their addresses do not say otherwise. */
static bool same_adapter(const struct zaddr *a, const struct zaddr *b)
{
	return !a || !b || zaddr_same_adapter(a, b);
}

/* All networks of a node. This includes those that the job does not use, which map_ways_join takes from the node's
 * fabrics: a map that is kept may use them. */
static uint64_t networks(const struct map_node *n)
{
	return n->ports | UINT64_C(1) << n->cluster;
}

/* Adds a port. head[z]: the newest port of the host whose first zipper is z. */
static uint32_t port_add(struct map_ports *p, uint32_t *head, struct map_port port)
{
	port.next = MAP_NONE;
	if (port.zipper >= 0) {
		port.next = head[port.zipper];
		head[port.zipper] = p->n;
	}
	p->port[p->n] = port;
	return p->n++;
}

/* Ranks on a host with several zippers use the ports of the first zipper. */
static uint32_t node_port_add(struct map_ports *p, const struct map_site *s, uint32_t *head, uint32_t node,
	uint32_t fabric)
{
	const struct map_node *n = &s->nodes[node];
	int zipper = n->zipper ? zhostfile_find_zipper(s->hosts, n->name) : -1;
	const struct zport *port = zipper < 0 ? NULL : zhostfile_find_port(s->hosts, zipper, s->fabric[fabric]);

	return port_add(p, head,
		(struct map_port){.node = node, .zipper = zipper, .fabric = fabric, .addr = port ? &port->addr : NULL});
}

static uint32_t zipper_port_add(struct map_ports *p, const struct map_site *s, uint32_t *head, int first,
	const struct zport *port)
{
	uint32_t fabric = map_ways_find_fabric(s, port->fabric), node = MAP_NONE;

	for (uint32_t i = head[first]; i != MAP_NONE; i = p->port[i].next) {
		if (p->port[i].fabric == fabric && same_adapter(p->port[i].addr, &port->addr))
			return i;
		node = p->port[i].node;
	}
	return port_add(p, head,
		(struct map_port){.node = node, .zipper = first, .fabric = fabric, .addr = &port->addr});
}

static void ports_fill(struct map_ports *p, const struct map_site *s, uint32_t *head)
{
	const struct zhostfile *h = s->hosts;
	size_t at = 0;

	for (int z = 0; z < h->nzippers; z++)
		head[z] = MAP_NONE;
	for (uint32_t i = 0; i < s->nnodes; i++)
		node_port_add(p, s, head, i, s->nodes[i].cluster);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		p->more[i] = p->n;
		for (uint32_t c = 0; c < s->nclusters; c++)
			if (c != s->nodes[i].cluster && networks(&s->nodes[i]) >> c & 1)
				node_port_add(p, s, head, i, c);
	}
	for (int z = 0; z < h->nzippers; z++) {
		int first = zhostfile_find_zipper(h, h->zippers[z].host);

		for (int k = 0; k < h->zippers[z].nports; k++)
			p->zipper[at++] = zipper_port_add(p, s, head, first, &h->zippers[z].ports[k]);
	}
}

int map_ports_create(struct map_ports *p, const struct map_site *s)
{
	uint32_t *head = malloc(((size_t)s->hosts->nzippers + 1) * sizeof(*head));
	size_t n = 0, nzipper = 0;

	for (uint32_t i = 0; i < s->nnodes; i++)
		n += (size_t)__builtin_popcountll(networks(&s->nodes[i]));
	for (int z = 0; z < s->hosts->nzippers; z++)
		nzipper += (size_t)s->hosts->zippers[z].nports;
	*p = (struct map_ports){.port = calloc(n + nzipper, sizeof(*p->port)),
		.more = calloc(s->nnodes, sizeof(*p->more)),
		.zipper = calloc(nzipper + 1, sizeof(*p->zipper))};
	if (head && p->port && p->more && p->zipper)
		ports_fill(p, s, head);
	free(head);
	return p->n ? 0 : -ENOMEM;
}

void map_ports_free(struct map_ports *p)
{
	free(p->port);
	free(p->more);
	free(p->zipper);
	*p = (struct map_ports){0};
}

uint32_t map_ports_find(const struct map_ports *p, const struct map_site *s, uint32_t node, uint32_t fabric)
{
	const struct map_node *n = &s->nodes[node];

	if (!n->zipper || fabric == n->cluster)
		return node;
	return p->more[node] + (uint32_t)__builtin_popcountll(
				       networks(n) & ~(UINT64_C(1) << n->cluster) & ((UINT64_C(1) << fabric) - 1));
}

void map_ports_name(const struct map_ports *p, const struct map_site *s, uint32_t port, char *buf, size_t size)
{
	const struct map_port *at = &p->port[port];

	if (at->zipper < 0)
		snprintf(buf, size, "port of %.64s", s->nodes[at->node].name);
	else
		snprintf(buf, size, "port of %.64s to %.40s", s->hosts->zippers[at->zipper].host,
			s->fabric[at->fabric]);
}
