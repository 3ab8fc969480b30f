/* SPDX-License-Identifier: BSD-3-Clause */
/* The dragonfly: groups of chassis of routers; all-to-all along rows (chassis) and columns within a group (level 1),
 * and between the groups (level 2). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/dragonfly.h"
#include "mapper/net/dragonfly_load.h"
#include "mapper/net/dragonfly_path.h"
#include "mapper/net/dragonfly_wiring.h"

#define BANDWIDTH 5120ull /* MiB/s in each direction of every link, as in the notes on the paper's machine */

static void dragonfly_destroy(struct net *net)
{
	struct dragonfly *d = (struct dragonfly *)net;

	net_fini(net);
	free(d->at);
	free(d->end);
	free(d->place);
	free(d->gates);
	free(d->far);
	free(d);
}

struct widths {
	uint32_t rows, columns;		      /* cables of a link */
	uint64_t row, column, global, inject; /* bytes a second of a link */
};

/* Reads shape, rule and widths, but not the wiring. */
static int shape_read(struct dragonfly *d, struct spec *spec, struct widths *w, struct zerr *err)
{
	static const char *const rules[] = {"paper", "release", NULL};
	uint64_t one;
	int rule, rc;

	if ((rc = spec_u32(spec, "group", 960, 1, 65535, &d->groups, err)) ||
		(rc = spec_u32(spec, "chassis", 6, 1, 4096, &d->chassis, err)) ||
		(rc = spec_u32(spec, "router", 16, 1, 4096, &d->width, err)) ||
		(rc = spec_u32(spec, "node", 4, 1, 4096, &d->hosts, err)) ||
		(rc = spec_u32(spec, "core", 24, 1, 65535, &d->net.cores, err)) ||
		(rc = spec_u32(spec, "row", 1, 1, 1024, &w->rows, err)) ||
		(rc = spec_u32(spec, "column", 1, 1, 1024, &w->columns, err)) ||
		(rc = spec_u64(spec, "bandwidth", BANDWIDTH << 20, 1, UINT64_MAX, &one, err)) ||
		(rc = spec_u64(spec, "row-bandwidth", one, 1, UINT64_MAX, &w->row, err)) ||
		(rc = spec_u64(spec, "column-bandwidth", one, 1, UINT64_MAX, &w->column, err)) ||
		(rc = spec_u64(spec, "global-bandwidth", one, 1, UINT64_MAX, &w->global, err)) ||
		(rc = spec_u64(spec, "injection", 0, 1, UINT64_MAX, &w->inject, err)) ||
		(rc = spec_choice(spec, "intermediate", rules, DRAGONFLY_ANY, &rule, err)))
		return rc;
	if (__builtin_mul_overflow(w->row, w->rows, &w->row) ||
		__builtin_mul_overflow(w->column, w->columns, &w->column))
		return zerr_set(err, -EINVAL, "%s: cables of more than 2^64 bytes a second together", spec->where);
	d->rule = (enum dragonfly_rule)rule;
	d->inject = w->inject > 0;
	d->local = d->chassis * d->width;
	if (d->local > 65535 || (uint64_t)d->groups * d->local * d->hosts > UINT32_MAX / 4)
		return zerr_set(err, -EINVAL, "%s: a dragonfly of that size is out of range", spec->where);
	d->routers = d->groups * d->local;
	return 0;
}

static int places_fill(struct dragonfly *d, struct zerr *err)
{
	d->at = malloc(d->local * sizeof(*d->at));
	d->place = malloc(d->routers * sizeof(*d->place));
	if (!d->at || !d->place)
		return zerr_set(err, -ENOMEM, "not enough memory for %u routers", d->routers);
	for (uint32_t a = 0; a < d->local; a++)
		d->at[a] = (struct dragonfly_end){.row = (uint16_t)(a / d->width),
			.position = (uint16_t)(a % d->width),
			.local = (uint16_t)a};
	for (uint32_t r = 0; r < d->routers; r++)
		d->place[r] = (struct dragonfly_place){(uint16_t)(r / d->local), (uint16_t)(r % d->local)};
	return 0;
}

static int links_fill(struct dragonfly *d, const struct widths *w, const char *where, struct zerr *err)
{
	uint32_t first_host, hosts = d->inject ? d->routers * d->hosts : 0;
	int rc;

	d->slots = d->width + d->chassis + d->ports;
	if ((uint64_t)d->routers * d->slots + 2ull * d->routers * d->hosts > UINT32_MAX)
		return zerr_set(err, -EINVAL, "%s: more than 2^32 links", where);
	first_host = d->routers * d->slots;
	rc = net_init(&d->net, &dragonfly_ops, first_host + 2 * hosts, err);
	if (rc)
		return rc;
	for (uint32_t r = 0; r < d->routers; r++) {
		uint32_t link = r * d->slots, a = r % d->local;

		for (uint32_t x = 0; x < d->width; x++)
			if (x != d->at[a].position)
				net_set_link(&d->net, link + x, NET_ROW, (double)w->row);
		link += d->width;
		for (uint32_t c = 0; c < d->chassis; c++)
			if (c != d->at[a].row)
				net_set_link(&d->net, link + c, NET_COLUMN, (double)w->column);
		link += d->chassis;
		for (uint32_t p = 0; p < d->ports; p++)
			if (d->far[r * d->ports + p] != UINT32_MAX)
				net_set_link(&d->net, link + p, NET_GLOBAL, (double)w->global);
	}
	for (uint32_t h = 0; h < hosts; h++) {
		net_set_link(&d->net, first_host + 2 * h, NET_INJECT, (double)w->inject);
		net_set_link(&d->net, first_host + 2 * h + 1, NET_EJECT, (double)w->inject);
	}
	return 0;
}

/* Describes the network in the terms of all topologies. To be called after links_fill(). */
static void net_describe(struct dragonfly *d, const struct widths *w)
{
	struct net *net = &d->net;

	net->nodes = d->routers * d->hosts;
	net->points = d->inject ? net->nodes : d->routers;
	net->own_slot = d->inject;
	net->direct_slots = DRAGONFLY_SLOTS + 2u * d->inject;
	net->indirect_slots = 2 * DRAGONFLY_SLOTS + 2u * d->inject;
	if (d->bundle == 1 && (uint64_t)d->routers * d->local <= UINT32_MAX) {
		net->forked = d->inject ? 3 : 1;
		net->legs = d->routers * d->local;
		d->local_inverse = UINT64_MAX / d->local + 1;
	}
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = d->hosts;
	net->level[NET_CHASSIS] = d->hosts * d->width;
	net->level[NET_GROUP] = d->hosts * d->local;
	net->cables[NET_ROW] = (uint16_t)w->rows;
	net->cables[NET_COLUMN] = (uint16_t)w->columns;
}

static int dragonfly_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct dragonfly *d = calloc(1, sizeof(*d));
	struct widths w;
	int rc;

	(void)table;
	*out = NULL;
	if (!d)
		return zerr_set(err, -ENOMEM, "not enough memory");
	rc = shape_read(d, spec, &w, err);
	if (!rc)
		rc = places_fill(d, err);
	if (!rc)
		rc = dragonfly_wiring_make(d, spec, err);
	if (!rc)
		rc = links_fill(d, &w, spec->where, err);
	if (rc) {
		dragonfly_destroy(&d->net);
		return rc;
	}
	net_describe(d, &w);
	*out = &d->net;
	return 0;
}

static uint32_t dragonfly_point(const struct net *net, uint32_t node)
{
	const struct dragonfly *d = (const struct dragonfly *)net;

	return d->inject ? node : node / d->hosts;
}

static void dragonfly_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	uint32_t r = link / d->slots, slot = link % d->slots, to, host = link - d->routers * d->slots;
	struct dragonfly_place a, b;
	char port[16] = "";

	if (r >= d->routers) {
		a = d->place[host / 2 / d->hosts];
		snprintf(buf, size, host % 2 ? "g%u.c%u.r%u>n%u" : "n%4$u>g%1$u.c%2$u.r%3$u", a.group,
			d->at[a.local].row, d->at[a.local].position, host / 2);
		return;
	}
	a = d->place[r];
	if (slot < d->width) {
		to = r - d->at[a.local].position + slot;
	} else if (slot < d->width + d->chassis) {
		to = a.group * d->local + (slot - d->width) * d->width + d->at[a.local].position;
	} else {
		slot -= d->width + d->chassis;
		to = d->far[r * d->ports + slot];
		snprintf(port, sizeof(port), ".p%u", slot);
	}
	b = d->place[to];
	snprintf(buf, size, "g%u.c%u.r%u%s>g%u.c%u.r%u", a.group, d->at[a.local].row, d->at[a.local].position, port,
		b.group, d->at[b.local].row, d->at[b.local].position);
}

/* Two ways of a leg differ in their first link. With one link between groups that is all that is to choose. */
static int dragonfly_load_ecmp(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return net->forked ? dragonfly_load_direct(net, t, threads, load) : -ENOTSUP;
}

const struct net_ops dragonfly_ops = {
	.name = "dragonfly",
	.help = "group:960 chassis:6 router:16 node:4 core:24 (counts, each in the next larger)\n"
		"row:1 column:1 (cables a link)  global:1 (links between two groups)\n"
		"wiring:modulo|consecutive|circulant|round-robin or wiring-file:FILE\n"
		"bandwidth:5120M row-bandwidth: column-bandwidth: global-bandwidth: (bytes a second and cable)\n"
		"injection:BANDWIDTH (of the nodes' own links; default: not limited)\n"
		"intermediate:paper|release (how an indirect path chooses its router)",
	.create = dragonfly_create,
	.destroy = dragonfly_destroy,
	.point = dragonfly_point,
	.direct_count = dragonfly_path_direct_count,
	.direct = dragonfly_path_direct,
	.fork = dragonfly_path_fork,
	.legs_list = dragonfly_path_legs_list,
	.indirect = dragonfly_path_indirect,
	.load_direct = dragonfly_load_direct,
	.load_ecmp = dragonfly_load_ecmp,
	.load_indirect = dragonfly_load_indirect,
	.link_name = dragonfly_link_name,
};
