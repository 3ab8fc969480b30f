/* SPDX-License-Identifier: BSD-3-Clause */
/* The placements of section IV.A of the paper, linear order, and maps from a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/lines.h"
#include "mapper/model/job_placement.h"
#include "mapper/base/rng.h"
#include "mapper/base/spec.h"

/* Blocks in random order; the nodes of a block in their own order. order[] first holds the permutation of the blocks.
 * It is expanded from its end, so that a block never overwrites another one that is still needed. */
static void order_random(const struct job_placement *p, const struct net *net, uint64_t seed, uint32_t *order)
{
	uint32_t size = net->level[p->block], blocks = net->nodes / size;

	for (uint32_t i = 0; i < blocks; i++) {
		uint64_t bits = rng_at(seed, RNG_PLACEMENT, p->block, i);
		uint32_t j = rng_below((uint32_t)(bits >> 32), i + 1); /* Fisher and Yates, inside out */

		order[i] = order[j];
		order[j] = i;
	}
	for (uint32_t i = blocks; i-- > 0;) {
		uint32_t block = order[i];

		for (uint32_t k = size; k-- > 0;)
			order[i * size + k] = block * size + k;
	}
}

/* The first block of every group, then the second of every group, and so on. */
static void order_deal(const struct job_placement *p, const struct net *net, uint64_t seed, uint32_t *order)
{
	uint32_t size = net->level[p->block], group = net->level[NET_GROUP], n = 0;

	(void)seed;
	for (uint32_t at = 0; at < group; at += size)
		for (uint32_t g = 0; g < net->nodes; g += group)
			for (uint32_t k = 0; k < size; k++)
				order[n++] = g + at + k;
}

static void order_linear(const struct job_placement *p, const struct net *net, uint64_t seed, uint32_t *order)
{
	(void)p;
	(void)seed;
	for (uint32_t i = 0; i < net->nodes; i++)
		order[i] = i;
}

const struct job_placement job_placement_table[] = {
	{"RDN", "Random Nodes", "nodes in random order", NET_NODE, order_random},
	{"RDR", "Random Routers", "routers in random order", NET_ROUTER, order_random},
	{"RDC", "Random Chassis", "chassis in random order", NET_CHASSIS, order_random},
	{"RDG", "Random Groups", "groups in random order", NET_GROUP, order_random},
	{"RRN", "Round Robin Nodes", "a node of each group in turn", NET_NODE, order_deal},
	{"RRR", "Round Robin Routers", "a router of each group in turn", NET_ROUTER, order_deal},
	{"LIN", "Linear", "nodes in their order", NET_NODE, order_linear},
	{NULL, NULL, NULL, NET_NODE, NULL},
};

const struct job_placement *job_placement_find(const char *name)
{
	for (const struct job_placement *p = job_placement_table; p->name; p++)
		if (!strcasecmp(p->name, name))
			return p;
	return NULL;
}

/* The state of reading a map. */
struct reading {
	const struct net *net;
	uint32_t ranks, seen, *node;
	uint32_t *used; /* [nodes]: ranks on each node */
};

/* Parses "RANK NODE", with a number or, in a network whose nodes have names, a name. Returns as spec_numbers. */
static int pair_read(const struct net *net, char *line, uint32_t *pair)
{
	char rank[16], name[256], more;

	line[strcspn(line, "#")] = '\0';
	if (net->ops->node_find && sscanf(line, " %15s %255s %c", rank, name, &more) == 2) {
		pair[1] = net->ops->node_find(net, name);
		if (pair[1] != NET_NO_NODE)
			return spec_numbers(rank, pair, 1) > 0 ? 1 : -EINVAL;
	}
	return spec_numbers(line, pair, 2);
}

static int line_read(void *arg, char *line, int number, struct zerr *err)
{
	struct reading *r = arg;
	uint32_t pair[2] = {0};
	int got = pair_read(r->net, line, pair);

	(void)number;
	if (!got)
		return 0;
	if (got < 0)
		return zerr_set(err, -EINVAL, "not \"RANK NODE\" (a map of hosts needs -f HOSTFILE)");
	if (pair[0] >= r->ranks || pair[1] >= r->net->nodes)
		return zerr_set(err, -EINVAL, "there are %u ranks and %u nodes", r->ranks, r->net->nodes);
	if (r->node[pair[0]] != UINT32_MAX)
		return zerr_set(err, -EINVAL, "rank %u is there twice", pair[0]);
	if (++r->used[pair[1]] > r->net->cores)
		return zerr_set(err, -EINVAL, "more ranks on node %u than its cores (%u)", pair[1], r->net->cores);
	r->node[pair[0]] = pair[1];
	r->seen++;
	return 0;
}

int job_placement_read(const char *path, uint32_t ranks, const struct net *net, uint32_t *node, struct zerr *err)
{
	struct reading r = {.net = net, .ranks = ranks, .node = node, .used = calloc(net->nodes, sizeof(*r.used))};
	int rc;

	if (!r.used)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < ranks; i++)
		node[i] = UINT32_MAX;
	rc = zlines_read_file(path, line_read, &r, err);
	if (!rc && r.seen < ranks)
		rc = zerr_set(err, -EINVAL, "%s: only %u of %u ranks are placed", path, r.seen, ranks);
	free(r.used);
	return rc;
}
