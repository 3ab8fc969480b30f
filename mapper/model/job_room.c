/* SPDX-License-Identifier: BSD-3-Clause */
/* Free cores, see job_room.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "mapper/model/job_room.h"

/* The node of a name: a name of the network, also up to its first dot, or a number. */
static uint32_t node_find(const struct net *net, const char *name)
{
	size_t len = strcspn(name, ".");
	char first[256];
	uint64_t number;
	uint32_t node;

	if (!net->ops->node_find)
		return zargs_parse_u64(name, &number) || number >= net->nodes ? NET_NO_NODE : (uint32_t)number;
	node = net->ops->node_find(net, name);
	if (node != NET_NO_NODE || !name[len] || len >= sizeof(first))
		return node;
	memcpy(first, name, len);
	first[len] = '\0';
	return net->ops->node_find(net, first);
}

void job_room_whole(struct job_room *r, const struct net *net)
{
	*r = (struct job_room){.nodes = net->nodes, .cores = (uint64_t)net->nodes * net->cores};
}

int job_room_create(struct job_room *r, const struct net *net, const struct busy *b, struct zerr *err)
{
	uint32_t found = 0;

	job_room_whole(r, net);
	if (!b->names.n)
		return 0;
	r->free = malloc(net->nodes * sizeof(*r->free));
	if (!r->free)
		return zerr_set(err, -ENOMEM, "not enough memory for %u nodes", net->nodes);
	for (uint32_t i = 0; i < net->nodes; i++)
		r->free[i] = net->cores;
	for (uint32_t i = 0; i < b->names.n; i++) {
		uint32_t node = node_find(net, b->names.name[i]);

		if (node == NET_NO_NODE)
			continue;
		found++;
		r->cores -= r->free[node];
		r->nodes -= r->free[node] > 0;
		r->free[node] -= b->cores[i] < r->free[node] ? b->cores[i] : r->free[node];
		r->cores += r->free[node];
		r->nodes += r->free[node] > 0;
	}
	r->partly = r->cores < (uint64_t)r->nodes * net->cores;
	if (!found)
		return zerr_set(err, -EINVAL, "the network has none of the %u busy nodes%s", b->names.n,
			net->ops->node_find ? "" : ": its nodes have numbers");
	return r->cores ? 0 : zerr_set(err, -EINVAL, "all nodes are busy");
}

void job_room_free(struct job_room *r)
{
	free(r->free);
	*r = (struct job_room){0};
}

void job_room_filter(const struct job_room *r, const struct net *net, uint32_t *order)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->nodes && r->free; i++)
		if (r->free[order[i]])
			order[n++] = order[i];
}

bool job_room_fill(const struct job_room *r, const struct net *net, const uint32_t *order, uint32_t *at, uint32_t ranks,
	uint32_t *point)
{
	for (uint32_t rank = 0; rank < ranks; ++*at) {
		if (*at == r->nodes)
			return false;
		for (uint32_t core = 0; core < r->free[order[*at]] && rank < ranks; core++)
			point[rank++] = net->ops->point(net, order[*at]);
	}
	return true;
}
