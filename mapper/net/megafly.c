/* SPDX-License-Identifier: BSD-3-Clause */
/* Megafly, or dragonfly+: groups of leaf switches, which have the nodes, and spine switches, which have the links to
 * other groups. Each leaf of a group has a link to each of its spines. A shortest path goes over any spine within a
 * group, and over any of the links between two groups. Indirect paths go to a random leaf, then on. (Shpiner, Haramaty,
 * Eliad, Zdornov, Gafni, Zahavi: "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017; Flajslik,
 * Borch, Parker: "Megafly: A Topology for Exascale Systems", ISC 2018.) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/base/rng.h"
#include "mapper/net/megafly.h"
#include "mapper/traffic/traffic.h"

#define MEGAFLY_SLOTS 3 /* links of a shortest path: up, to another group, down */

/* Points are leaves; leaf a of group g is g x leaves + a. Spines are numbered likewise. */
struct megafly {
	struct net net;
	uint32_t groups, leaves, spines;
	uint32_t hosts;	 /* nodes of a leaf */
	uint32_t bundle; /* links between two groups */
	uint32_t ports;	 /* of a spine to other groups */
	uint32_t down;	 /* the first link from a spine to a leaf */
	uint32_t global; /* the first link between groups */
};

/* One end of link number `member` from group g to group h. */
struct gate {
	uint32_t spine, port; /* spine: of all */
};

/* The links of a group are numbered: to the other groups in turn, as often as there are links between two groups. The
 * spines have them in turn. */
static struct gate gate_find(const struct megafly *m, uint32_t g, uint32_t h, uint32_t member)
{
	uint32_t q = member * (m->groups - 1) + h - (h > g);

	return (struct gate){g * m->spines + q % m->spines, q / m->spines};
}

/* Link 0 is void. Then come those of the leaves, those from spines to leaves, and those between groups. */
static uint32_t link_up(const struct megafly *m, uint32_t leaf, uint32_t spine)
{
	return 1 + leaf * m->spines + spine % m->spines;
}

static uint32_t link_down(const struct megafly *m, uint32_t spine, uint32_t leaf)
{
	return m->down + spine * m->leaves + leaf % m->leaves;
}

static uint32_t link_global(const struct megafly *m, struct gate out)
{
	return m->global + out.spine * m->ports + out.port;
}

static void megafly_destroy(struct net *net)
{
	net_fini(net);
	free(net);
}

static int shape_read(struct megafly *m, struct spec *spec, uint64_t *links, struct zerr *err)
{
	uint64_t leaves, spines, between;
	int rc;

	if ((rc = spec_u32(spec, "group", 33, 1, 65535, &m->groups, err)) ||
		(rc = spec_u32(spec, "leaf", 16, 1, 4096, &m->leaves, err)) ||
		(rc = spec_u32(spec, "spine", 16, 1, 4096, &m->spines, err)) ||
		(rc = spec_u32(spec, "node", 16, 1, 4096, &m->hosts, err)) ||
		(rc = spec_u32(spec, "core", 1, 1, 65535, &m->net.cores, err)) ||
		(rc = spec_u32(spec, "global", 1, 1, 4096, &m->bundle, err)))
		return rc;
	leaves = (uint64_t)m->groups * m->leaves;
	spines = (uint64_t)m->groups * m->spines;
	between = (uint64_t)m->bundle * (m->groups - 1);
	m->ports = (uint32_t)((between + m->spines - 1) / m->spines);
	*links = 1 + 2 * leaves * m->spines + spines * m->ports;
	if (*links > UINT32_MAX / 4 || leaves * m->hosts > UINT32_MAX / 4)
		return zerr_set(err, -EINVAL, "%s: a megafly of that size is out of range", spec->where);
	m->down = 1 + (uint32_t)leaves * m->spines;
	m->global = m->down + (uint32_t)spines * m->leaves;
	return 0;
}

static void links_set(struct megafly *m, double bandwidth, double global)
{
	for (uint32_t l = 1; l < m->global; l++)
		net_set_link(&m->net, l, l < m->down ? NET_UP : NET_DOWN, bandwidth);
	for (uint32_t g = 0; g < m->groups; g++)
		for (uint32_t h = 0; h < m->groups; h++)
			for (uint32_t k = 0; k < m->bundle && g != h; k++)
				net_set_link(&m->net, link_global(m, gate_find(m, g, h, k)), NET_GLOBAL, global);
}

static int megafly_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct megafly *m = calloc(1, sizeof(*m));
	struct net *net = &m->net;
	uint64_t bandwidth, global, links;
	int rc;

	(void)table;
	*out = NULL;
	if (!m)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = shape_read(m, spec, &links, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)) ||
		(rc = spec_u64(spec, "global-bandwidth", bandwidth, 1, UINT64_MAX, &global, err)) ||
		(rc = net_init(net, &megafly_ops, (uint32_t)links, err)))
		goto err_free;
	links_set(m, (double)bandwidth, (double)global);
	net->points = m->groups * m->leaves;
	net->nodes = net->points * m->hosts;
	net->direct_slots = MEGAFLY_SLOTS;
	net->indirect_slots = 2 * MEGAFLY_SLOTS;
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = net->level[NET_CHASSIS] = m->hosts;
	net->level[NET_GROUP] = m->hosts * m->leaves;
	*out = net;
	return 0;

err_free:
	megafly_destroy(net);
	return rc;
}

static uint32_t megafly_point(const struct net *net, uint32_t node)
{
	return node / ((const struct megafly *)net)->hosts;
}

/* --- paths --- */

static uint32_t megafly_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	const struct megafly *m = (const struct megafly *)net;

	if (s == d)
		return 1;
	return s / m->leaves == d / m->leaves ? m->spines : m->bundle;
}

/* k is the spine, or the link between the groups. */
static void megafly_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct megafly *m = (const struct megafly *)net;
	uint32_t g = s / m->leaves, h = d / m->leaves;
	struct gate out = {g * m->spines + k, 0}, in = out;

	link[0] = link[1] = link[2] = NET_VOID;
	if (s == d)
		return;
	if (g != h) {
		out = gate_find(m, g, h, k);
		in = gate_find(m, h, g, k);
		link[1] = link_global(m, out);
	}
	link[0] = link_up(m, s, out.spine);
	link[2] = link_down(m, in.spine, d);
}

/* One of the shortest paths by 16 random bits. */
static void path_draw(const struct net *net, uint32_t s, uint32_t d, uint32_t bits, uint32_t *link)
{
	megafly_direct(net, s, d, bits * megafly_direct_count(net, s, d) >> 16, link);
}

static void megafly_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	uint32_t via = rng_below((uint32_t)(bits >> 32), net->points);

	path_draw(net, s, via, (uint32_t)bits & 0xffff, link);
	path_draw(net, via, d, (uint32_t)bits >> 16, link + MEGAFLY_SLOTS);
}

/* --- expectation over all intermediate leaves --- */

/* The bytes of each leaf, and the sums of each group. */
struct ends {
	double *sent, *received, *group_sent, *group_received;
};

/* Within a group: from each leaf to every other one as the random leaf, and from there. Every spine has the same share.
 */
static void group_load(const struct megafly *m, const struct ends *e, uint32_t g, double *bytes)
{
	double share = 1.0 / m->net.points / m->spines, others = m->leaves - 1;

	for (uint32_t a = g * m->leaves; a < (g + 1) * m->leaves; a++) {
		double up = e->sent[a] * others + e->group_received[g] - e->received[a];
		double down = e->received[a] * others + e->group_sent[g] - e->sent[a];

		for (uint32_t x = g * m->spines; x < (g + 1) * m->spines; x++) {
			bytes[link_up(m, a, x)] += share * up;
			bytes[link_down(m, x, a)] += share * down;
		}
	}
}

/* From group g to group h over one of the links between them: one in `groups` of the bytes that leave g's leaves for a
 * random leaf; and one in `groups` of the bytes for h's leaves, which come from a random leaf of g. */
static void gate_load(const struct megafly *m, const struct ends *e, uint32_t g, uint32_t h, uint32_t member,
	double *bytes)
{
	struct gate out = gate_find(m, g, h, member), in = gate_find(m, h, g, member);
	double share = 1.0 / m->groups / m->bundle;

	bytes[link_global(m, out)] += share * (e->group_sent[g] + e->group_received[h]);
	for (uint32_t i = 0; i < m->leaves; i++) {
		uint32_t a = g * m->leaves + i, b = h * m->leaves + i;

		bytes[link_up(m, a, out.spine)] += share * (e->sent[a] + e->group_received[h] / m->leaves);
		bytes[link_down(m, in.spine, b)] += share * (e->received[b] + e->group_sent[g] / m->leaves);
	}
}

static int megafly_load_indirect(const struct net *net, const struct traffic *traffic, unsigned threads,
	struct net_load *load)
{
	const struct megafly *m = (const struct megafly *)net;
	double *sums = calloc(2 * ((size_t)net->points + m->groups), sizeof(*sums));
	struct ends e = {.sent = sums,
		.received = sums + net->points,
		.group_sent = sums + 2 * (size_t)net->points,
		.group_received = sums + 2 * (size_t)net->points + m->groups};

	(void)threads; /* the messages are read once; the rest is little */
	if (!sums)
		return -ENOMEM;
	net_sum_ends(traffic, e.sent, e.received);
	for (uint32_t a = 0; a < net->points; a++) {
		e.group_sent[a / m->leaves] += e.sent[a];
		e.group_received[a / m->leaves] += e.received[a];
	}
	for (uint32_t g = 0; g < m->groups; g++) {
		group_load(m, &e, g, load->bytes);
		for (uint32_t h = 0; h < m->groups; h++)
			for (uint32_t k = 0; k < m->bundle && g != h; k++)
				gate_load(m, &e, g, h, k, load->bytes);
	}
	load->byte_hops +=
		2 * (double)traffic->bytes * (2 * (m->leaves - 1.0) / net->points + 3 * (m->groups - 1.0) / m->groups);
	free(sums);
	return 0;
}

/* Ways inside a group differ in the spine. With one link between two groups that is all that is to choose. */
static int megafly_load_ecmp(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return ((const struct megafly *)net)->bundle == 1 ? net_load_enumerated(net, t, threads, load) : -ENOTSUP;
}

/* "g0.l1>g0.s2", "g0.s2>g0.l1", "g0.s2.p0>g1.s3". */
static void megafly_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct megafly *m = (const struct megafly *)net;

	if (link < m->down) {
		uint32_t leaf = (link - 1) / m->spines, g = leaf / m->leaves;

		snprintf(buf, size, "g%u.l%u>g%u.s%u", g, leaf % m->leaves, g, (link - 1) % m->spines);
	} else if (link < m->global) {
		uint32_t spine = (link - m->down) / m->leaves, g = spine / m->spines;

		snprintf(buf, size, "g%u.s%u>g%u.l%u", g, spine % m->spines, g, (link - m->down) % m->leaves);
	} else {
		uint32_t spine = (link - m->global) / m->ports, port = (link - m->global) % m->ports;
		uint32_t g = spine / m->spines, q = port * m->spines + spine % m->spines;
		uint32_t h = q % (m->groups - 1), in;

		h += h >= g;
		in = gate_find(m, h, g, q / (m->groups - 1)).spine;
		snprintf(buf, size, "g%u.s%u.p%u>g%u.s%u", g, spine % m->spines, port, h, in % m->spines);
	}
}

const struct net_ops megafly_ops = {
	.name = "megafly",
	.help = "group:33 leaf:16 spine:16 (switches of a group) node:16 (of a leaf) core:1\n"
		"global:1 (links between two groups) bandwidth:5120M global-bandwidth:5120M (each way)",
	.create = megafly_create,
	.destroy = megafly_destroy,
	.point = megafly_point,
	.direct_count = megafly_direct_count,
	.direct = megafly_direct,
	.indirect = megafly_indirect,
	.load_direct = net_load_enumerated,
	.load_ecmp = megafly_load_ecmp,
	.load_indirect = megafly_load_indirect,
	.link_name = megafly_link_name,
};
