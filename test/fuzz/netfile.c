/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of other programs that list a network, as zipmap model takes them (mapper/netfile): Slurm's topology.conf and
 * topology.yaml, and the output of ibnetdiscover. Each input goes to both readers. */
#include <stdio.h>
#include <string.h>

#include "mapper/net/topology.h"
#include "test/fuzz/target.h"

#define PAIRS 16

/* Nodes are found by their names, and shortest paths have the links that they should. */
static void look(const struct net *net)
{
	uint32_t link[NET_SLOTS_MAX];
	char name[NET_LINK_NAME_SIZE];
	CHECK(net->nodes > 0 && net->points > 0 && net->nodes % net->level[NET_GROUP] == 0);
	for (uint32_t i = 0; i < net->nodes; i++) {
		CHECK(net->ops->node_find(net, net->ops->node_name(net, i)) == i);
		CHECK(net->ops->point(net, i) < net->points);
	}
	for (uint32_t i = 0; i < PAIRS; i++) {
		const uint32_t s = i * 7919u % net->points, d = i * 104729u % net->points;
		if (s == d)
			continue;
		const uint32_t n = net->ops->direct_count(net, s, d);
		CHECK(n > 0);
		net->ops->direct(net, s, d, i % n, link);
		CHECK(net->link_class[link[0]] == NET_PEER && net->capacity[link[0]] > 0);
		for (uint32_t k = 0; k < net->direct_slots; k++)
			CHECK(link[k] < net->links);
		net->ops->link_name(net, link[0], name, sizeof(name));
		CHECK(strchr(name, '>'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {"slurm", "ibnet"};
	for (int i = 0; i < 2; i++) {
		struct zerr err = {{0}};
		struct net *net;
		char text[128];
		snprintf(text, sizeof(text), "%s file:%s", kinds[i], target_file(data, size));
		if (topology_create(text, &net, &err) == 0) {
			look(net);
			net_destroy(net);
		} else {
			CHECK(err.text[0]);
		}
	}
	return 0;
}
