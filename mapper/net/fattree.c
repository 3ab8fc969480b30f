/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fat trees in general. At level i (1 = leaf switches) every switch has down[i] children; every vertex of level i - 1
 * (level 0 = nodes) has up[i] parents. A k-ary n-tree has down = k,k,..,k and up = 1,k,..,k; a smaller `up` is
 * oversubscription. A message goes up to the first level where source and destination have a common switch, over any of
 * the up[1] x .. x up[L] choices. It goes down the one way that is left. An indirect message goes up to a
 * random root, unless one leaf switch has both nodes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/fattree.h"
#include "mapper/base/par.h"
#include "mapper/base/rng.h"
#include "mapper/traffic/traffic.h"

#define LEVELS_MAX 12

struct fattree {
	struct net net;
	uint32_t levels;
	uint32_t up[LEVELS_MAX + 1], down[LEVELS_MAX + 1]; /* from level 1 on */
	uint32_t span[LEVELS_MAX + 1];			   /* nodes below a switch of a level; span[0] = 1 */
	uint32_t choices[LEVELS_MAX + 1];		   /* product of up[1..i]; choices[0] = 1 */
	/* Links from level i - 1 to i: base[i] + 2 x index, and + 1 for the way down. The index counts the vertices of
	 * level i - 1, subtree by subtree (choices[i - 1] each), and for each vertex its up[i] parents. */
	uint32_t base[LEVELS_MAX + 2];
};

static uint32_t link_up(const struct fattree *t, uint32_t level, uint32_t node, uint32_t choice)
{
	uint32_t subtree = node / t->span[level - 1];

	return t->base[level] + 2 * (subtree * t->choices[level] + choice % t->choices[level]);
}

static void fattree_destroy(struct net *net)
{
	net_fini(net);
	free(net);
}

/* Reads "4x4x2" of a key into value[1..]. Both keys must have the same number of levels. */
static int levels_read(struct fattree *t, struct spec *spec, const char *key, uint32_t *value, struct zerr *err)
{
	const char *text = spec_string(spec, key);
	unsigned n;
	int rc = spec_dims(spec, text, value + 1, LEVELS_MAX, &n, err);

	if (!rc && (!n || (t->levels && n != t->levels)))
		return zerr_set(err, -EINVAL, "%s: down and up need the same number of levels", spec->where);
	t->levels = n;
	return rc;
}

/* Reads the keys "arity" and "levels", with "taper" (oversubscription of the leaf switches); or "down" and "up". */
static int shape_read(struct fattree *t, struct spec *spec, struct zerr *err)
{
	uint32_t arity, taper;
	int rc;

	if (spec_string(spec, "down")) {
		rc = levels_read(t, spec, "down", t->down, err);
		return rc ? rc : levels_read(t, spec, "up", t->up, err);
	}
	if ((rc = spec_u32(spec, "arity", 16, 2, 65535, &arity, err)) ||
		(rc = spec_u32(spec, "levels", 3, 1, LEVELS_MAX, &t->levels, err)) ||
		(rc = spec_u32(spec, "taper", 1, 1, 65535, &taper, err)))
		return rc;
	if (arity % taper)
		return zerr_set(err, -EINVAL, "%s: taper %u does not divide arity %u", spec->where, taper, arity);
	for (uint32_t i = 1; i <= t->levels; i++) {
		t->down[i] = arity;
		t->up[i] = i == 1 ? 1 : i == 2 ? arity / taper : arity;
	}
	return 0;
}

static int fattree_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct fattree *t = calloc(1, sizeof(*t));
	uint64_t bandwidth, nodes = 1, choices = 1, links = 2;
	int rc;

	(void)table;
	*out = NULL;
	if (!t)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = shape_read(t, spec, err)) || (rc = spec_u32(spec, "core", 1, 1, 65535, &t->net.cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)))
		goto err_free;
	t->span[0] = t->choices[0] = 1;
	for (uint32_t i = 1; i <= t->levels; i++) {
		nodes *= t->down[i];
		choices *= t->up[i];
		if (nodes > UINT32_MAX / 8 || choices > UINT32_MAX / 8)
			break;
		t->span[i] = (uint32_t)nodes;
		t->choices[i] = (uint32_t)choices;
	}
	for (uint32_t i = 1; i <= t->levels && t->span[i]; i++) {
		t->base[i] = (uint32_t)links;
		links += 2 * nodes / t->span[i - 1] * t->choices[i];
		if (links > UINT32_MAX)
			break;
	}
	if (nodes > UINT32_MAX / 8 || choices > UINT32_MAX / 8 || links > UINT32_MAX) {
		rc = zerr_set(err, -EINVAL, "%s: a fat tree of that size is out of range", spec->where);
		goto err_free;
	}
	t->base[t->levels + 1] = (uint32_t)links;
	rc = net_init(&t->net, &fattree_ops, (uint32_t)links, err);
	if (rc)
		goto err_free;
	for (uint32_t l = t->base[1]; l < links; l++)
		net_set_link(&t->net, l, l % 2 ? NET_DOWN : NET_UP, (double)bandwidth);
	t->net.nodes = t->net.points = (uint32_t)nodes;
	t->net.own_slot = 1;
	t->net.direct_slots = t->net.indirect_slots = 2 * t->levels;
	t->net.level[NET_NODE] = 1;
	t->net.level[NET_ROUTER] = t->levels > 1 ? t->span[1] : 1;
	t->net.level[NET_CHASSIS] = t->levels > 2 ? t->span[2] : t->net.level[NET_ROUTER];
	t->net.level[NET_GROUP] = t->levels > 1 ? t->span[t->levels - 1] : 1;
	*out = &t->net;
	return 0;

err_free:
	fattree_destroy(&t->net);
	return rc;
}

static uint32_t fattree_point(const struct net *net, uint32_t node)
{
	(void)net;
	return node;
}

/* The lowest level at which two nodes have a common switch. */
static uint32_t common_level(const struct fattree *t, uint32_t s, uint32_t d)
{
	uint32_t level = 0;

	while (s / t->span[level] != d / t->span[level])
		level++;
	return level;
}

/* The level that an indirect path goes up to. It stays at a leaf switch that both nodes have in common. */
static uint32_t indirect_level(const struct fattree *t, uint32_t s, uint32_t d)
{
	return common_level(t, s, d) > 1 ? t->levels : 1;
}

/* Fills in a path up to a level and down. The digits of the choice are the parents taken, the first digit being the
 * slowest. The choice at a lower level is therefore the choice at a higher level, divided by the choices above. */
static void path_fill(const struct fattree *t, uint32_t s, uint32_t d, uint32_t level, uint32_t choice, uint32_t *link)
{
	for (uint32_t i = 1; i <= level; i++) {
		uint32_t parent = choice / (t->choices[level] / t->choices[i]);

		link[i - 1] = link_up(t, i, s, parent);
		link[2 * level - i] = link_up(t, i, d, parent) + 1;
	}
	for (uint32_t i = 2 * level; i < t->net.direct_slots; i++)
		link[i] = NET_VOID;
}

static uint32_t fattree_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	const struct fattree *t = (const struct fattree *)net;

	return t->choices[common_level(t, s, d)];
}

static void fattree_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct fattree *t = (const struct fattree *)net;

	path_fill(t, s, d, common_level(t, s, d), k, link);
}

/* D-mod-K, see fattree.h. */
static uint32_t fattree_single(const struct net *net, uint32_t s, uint32_t d)
{
	const struct fattree *t = (const struct fattree *)net;
	uint32_t choice = 0;

	for (uint32_t i = 1; i <= common_level(t, s, d); i++)
		choice = choice * t->up[i] + d / t->choices[i - 1] % t->up[i];
	return choice;
}

static void fattree_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	const struct fattree *t = (const struct fattree *)net;

	uint32_t level = indirect_level(t, s, d);

	path_fill(t, s, d, level, rng_below((uint32_t)(bits >> 32), t->choices[level]), link);
}

/* --- loads: a subtree's bytes are spread evenly over all its links to a level --- */

struct sums {
	const struct fattree *t;
	const struct traffic *traffic;
	uint64_t *up, *down; /* [levels + 1][nodes], by the first node of the subtree; shared, atomic */
	uint64_t *hops;	     /* [chunks] */
	bool roots;	     /* messages go up to the roots, except at a leaf switch */
};

static void sum_chunk(void *arg, size_t item, unsigned worker)
{
	struct sums *s = arg;
	const struct fattree *t = s->t;
	const struct traffic_chunk *c = &s->traffic->chunks[item];

	(void)worker;
	for (uint32_t i = 0; i < c->n; i++) {
		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
			uint32_t from = c->first + i, to = c->items[j].dst;
			uint32_t level = s->roots ? indirect_level(t, from, to) : common_level(t, from, to);
			uint64_t bytes = c->items[j].units * s->traffic->unit;

			for (uint32_t l = 1; l <= level; l++) {
				uint64_t at = (uint64_t)l * t->net.nodes;

				__atomic_fetch_add(&s->up[at + from / t->span[l - 1]], bytes, __ATOMIC_RELAXED);
				__atomic_fetch_add(&s->down[at + to / t->span[l - 1]], bytes, __ATOMIC_RELAXED);
			}
			s->hops[item] += bytes * 2 * level;
		}
	}
}

static int load_even(const struct net *net, const struct traffic *traffic, unsigned threads, bool roots,
	struct net_load *load)
{
	const struct fattree *t = (const struct fattree *)net;
	struct sums s = {.t = t, .traffic = traffic, .roots = roots};
	size_t n = (size_t)(t->levels + 1) * net->nodes;
	int rc = -ENOMEM;

	s.up = calloc(n, sizeof(*s.up));
	s.down = calloc(n, sizeof(*s.down));
	s.hops = calloc(traffic->nchunks ? traffic->nchunks : 1, sizeof(*s.hops));
	if (!s.up || !s.down || !s.hops)
		goto out;
	par_run(threads, traffic->nchunks, sum_chunk, &s);
	for (uint32_t l = 1; l <= t->levels; l++) {
		for (uint32_t b = 0; b < net->nodes / t->span[l - 1]; b++) {
			double up = (double)s.up[(size_t)l * net->nodes + b] / t->choices[l];
			double down = (double)s.down[(size_t)l * net->nodes + b] / t->choices[l];

			for (uint32_t k = 0; k < t->choices[l]; k++) {
				load->bytes[t->base[l] + 2 * (b * t->choices[l] + k)] += up;
				load->bytes[t->base[l] + 2 * (b * t->choices[l] + k) + 1] += down;
			}
		}
	}
	for (size_t i = 0; i < traffic->nchunks; i++)
		load->byte_hops += (double)s.hops[i];
	rc = 0;
out:
	free(s.up);
	free(s.down);
	free(s.hops);
	return rc;
}

static int fattree_load_direct(const struct net *net, const struct traffic *traffic, unsigned threads,
	struct net_load *load)
{
	return load_even(net, traffic, threads, false, load);
}

static int fattree_load_indirect(const struct net *net, const struct traffic *traffic, unsigned threads,
	struct net_load *load)
{
	return load_even(net, traffic, threads, true, load);
}

/* "l1.s3.2>p1": from the 2nd vertex of subtree 3 of level 1 to its parent 1; "<" is the way down. */
static void fattree_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct fattree *t = (const struct fattree *)net;
	uint32_t level = 1, at, choice;

	while (link >= t->base[level + 1])
		level++;
	at = (link - t->base[level]) / 2;
	choice = at % t->choices[level];
	snprintf(buf, size, "l%u.s%u.%u%sp%u", level - 1, at / t->choices[level], choice / t->up[level],
		link % 2 ? "<" : ">", choice % t->up[level]);
}

const struct net_ops fattree_ops = {
	.name = "fattree",
	.help = "arity:16 levels:3 taper:1 (k-ary n-tree; taper: oversubscription of the leaf switches)\n"
		"or down:16x16x16 up:1x16x16 (children of a switch, parents of a vertex, by level)\n"
		"core:1 bandwidth:5120M",
	.create = fattree_create,
	.destroy = fattree_destroy,
	.point = fattree_point,
	.direct_count = fattree_direct_count,
	.direct = fattree_direct,
	.single = fattree_single,
	.indirect = fattree_indirect,
	.load_direct = fattree_load_direct,
	.load_ecmp = fattree_load_direct,
	.load_indirect = fattree_load_indirect,
	.link_name = fattree_link_name,
};
