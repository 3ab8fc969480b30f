/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar has one path for each pair of nodes, whatever the routing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/crossbar.h"
#include "mapper/traffic/traffic.h"

/* Link 0 is void. Then come the links up and down of each node. */
static uint32_t link_up(uint32_t node)
{
	return 1 + 2 * node;
}

static uint32_t link_down(uint32_t node)
{
	return 2 + 2 * node;
}

static void crossbar_destroy(struct net *net)
{
	net_fini(net);
	free(net);
}

static int crossbar_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct net *net = calloc(1, sizeof(*net));
	uint64_t bandwidth;
	int rc;

	(void)table;
	*out = net;
	if (!net)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = spec_u32(spec, "node", 16, 1, UINT32_MAX / 4, &net->nodes, err)) ||
		(rc = spec_u32(spec, "core", 1, 1, 65535, &net->cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)) ||
		(rc = net_init(net, &crossbar_ops, 1 + 2 * net->nodes, err)))
		goto err_free;
	for (uint32_t i = 0; i < net->nodes; i++) {
		net_set_link(net, link_up(i), NET_UP, (double)bandwidth);
		net_set_link(net, link_down(i), NET_DOWN, (double)bandwidth);
	}
	net->points = net->nodes;
	net->own_slot = 1;
	net->direct_slots = net->indirect_slots = 2;
	for (int l = 0; l < NET_LEVELS; l++)
		net->level[l] = 1;
	return 0;

err_free:
	crossbar_destroy(net);
	*out = NULL;
	return rc;
}

static uint32_t crossbar_point(const struct net *net, uint32_t node)
{
	(void)net;
	return node;
}

static uint32_t crossbar_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	(void)net;
	(void)s;
	(void)d;
	return 1;
}

static void crossbar_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	(void)net;
	(void)k;
	link[0] = link_up(s);
	link[1] = link_down(d);
}

static void crossbar_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	(void)bits;
	crossbar_direct(net, s, d, 0, link);
}

static void crossbar_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	(void)net;
	snprintf(buf, size, link % 2 ? "n%u>x" : "x>n%u", (link - 1) / 2);
}

const struct net_ops crossbar_ops = {
	.name = "crossbar",
	.help = "node:16 core:1 bandwidth:5120M (of each node's link, each way)",
	.create = crossbar_create,
	.destroy = crossbar_destroy,
	.point = crossbar_point,
	.direct_count = crossbar_direct_count,
	.direct = crossbar_direct,
	.indirect = crossbar_indirect,
	.load_direct = net_load_enumerated,
	.load_ecmp = net_load_enumerated,
	.load_indirect = net_load_enumerated,
	.link_name = crossbar_link_name,
};
