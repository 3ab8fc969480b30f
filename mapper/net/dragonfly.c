/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dragonfly: groups of chassis of routers; all-to-all along rows (chassis) and columns within a group (level 1),
 * and between the groups (level 2).
 *
 * Shortest paths: within a group one hop in the same row or column, else two, row or column first; between groups (0
 * to 2 hops) x 1 x (0 to 2 hops) over that link of the two groups, or those, with the fewest hops. Paths over a third
 * group are not shortest paths here even where they would have fewer hops.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/dragonfly.h"
#include "mapper/base/rng.h"
#include "mapper/traffic/traffic.h"

#define BANDWIDTH 5120ull /* MB/s in each direction of every link, as in shared notes to the paper's machine */

static void dragonfly_destroy(struct net *net)
{
	struct dragonfly *d = (struct dragonfly *)net;

	net_fini(net);
	free(d->at);
	free(d->end);
	free(d->place);
	free(d->gates);
	free(d->peer);
	free(d);
}

struct widths {
	uint32_t rows, columns;		      /* cables of a link there */
	uint64_t row, column, global, inject; /* bytes a second of a link */
};

/* Shape, rule and widths; not the wiring. */
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
	rc = net_init(&d->net, &net_dragonfly, first_host + 2 * hosts, err);
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
			if (d->peer[r * d->ports + p] != UINT32_MAX)
				net_set_link(&d->net, link + p, NET_GLOBAL, (double)w->global);
	}
	for (uint32_t h = 0; h < hosts; h++) {
		net_set_link(&d->net, first_host + 2 * h, NET_INJECT, (double)w->inject);
		net_set_link(&d->net, first_host + 2 * h + 1, NET_EJECT, (double)w->inject);
	}
	return 0;
}

/* What all topologies tell of themselves, behind links_fill(). */
static void net_describe(struct dragonfly *d, const struct widths *w)
{
	struct net *net = &d->net;

	net->nodes = d->routers * d->hosts;
	net->points = d->inject ? net->nodes : d->routers;
	net->direct_slots = DRAGONFLY_SLOTS + 2u * d->inject;
	net->indirect_slots = 2 * DRAGONFLY_SLOTS + 2u * d->inject;
	if (d->lanes == 1 && (uint64_t)d->routers * d->local <= UINT32_MAX) {
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

static int dragonfly_create(struct spec_list *list, struct net **out, struct zerr *err)
{
	struct spec *spec = list->specs;
	struct dragonfly *d = calloc(1, sizeof(*d));
	struct widths w;
	int rc;

	*out = NULL;
	if (!d)
		return zerr_set(err, -ENOMEM, "not enough memory");
	rc = shape_read(d, spec, &w, err);
	if (!rc)
		rc = places_fill(d, err);
	if (!rc)
		rc = dragonfly_wire(d, spec, err);
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

/* --- shortest paths between routers --- */

/* Fewest hops over the links between two groups; *count paths have so many. */
static uint32_t lanes_best(const struct dragonfly *d, const struct dragonfly_gate *g, uint32_t a, uint32_t b,
	uint32_t *count)
{
	uint32_t best = UINT32_MAX;

	*count = 0;
	for (uint32_t l = 0; l < g->lanes; l++) {
		uint32_t hops = dragonfly_hops(d, a, g[l].out) + dragonfly_hops(d, g[l].in, b);

		if (hops < best) {
			best = hops;
			*count = 0;
		}
		if (hops == best)
			*count += dragonfly_ways(d, a, g[l].out) * dragonfly_ways(d, g[l].in, b);
	}
	return best;
}

/* By rule, the ends of a level-2 link come from a table that stays in the first-level cache. */
static inline struct dragonfly_end end_out(const struct dragonfly *d, uint32_t from, uint32_t to)
{
	return d->end[dragonfly_index(d, from, to)];
}

static inline uint32_t ends_ways(struct dragonfly_end a, struct dragonfly_end b)
{
	return 1 + ((a.row != b.row) & (a.position != b.position));
}

static inline void ends_path(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t,
	struct dragonfly_end out, struct dragonfly_end in, uint32_t first, uint32_t last, uint32_t *link)
{
	uint32_t from = s.group * d->local;

	dragonfly_leg_ends(d, from, d->at[s.local], out, first, link);
	link[2] = (from + out.local) * d->slots + d->width + d->chassis + out.port;
	dragonfly_leg_ends(d, t.group * d->local, in, d->at[t.local], last, link + 3);
}

uint32_t dragonfly_count(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t)
{
	const struct dragonfly_gate *g;
	uint32_t count;

	if (s.group == t.group)
		return dragonfly_ways(d, s.local, t.local);
	if (d->end)
		return ends_ways(d->at[s.local], end_out(d, s.group, t.group)) *
		       ends_ways(end_out(d, t.group, s.group), d->at[t.local]);
	g = dragonfly_gates(d, s.group, t.group);
	lanes_best(d, g, s.local, t.local, &count);
	return count;
}

static void gate_path(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t,
	const struct dragonfly_gate *g, uint32_t first, uint32_t last, uint32_t *link)
{
	dragonfly_leg(d, s.group * d->local, s.local, g->out, first, link);
	link[2] = dragonfly_global(d, s.group, g);
	dragonfly_leg(d, t.group * d->local, g->in, t.local, last, link + 3);
}

void dragonfly_path(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t, uint32_t k,
	uint32_t *link)
{
	const struct dragonfly_gate *g;
	uint32_t ways, best, count;

	if (s.group == t.group) {
		dragonfly_leg(d, s.group * d->local, s.local, t.local, k, link);
		link[2] = link[3] = link[4] = NET_VOID;
		return;
	}
	if (d->end) {
		struct dragonfly_end out = end_out(d, s.group, t.group);

		ways = ends_ways(d->at[s.local], out);
		ends_path(d, s, t, out, end_out(d, t.group, s.group), k & (ways - 1), k >> (ways - 1), link);
		return;
	}
	g = dragonfly_gates(d, s.group, t.group);
	if (g->lanes > 1) {
		best = lanes_best(d, g, s.local, t.local, &count);
		for (uint32_t l = g->lanes; l; l--, g++) {
			if (dragonfly_hops(d, s.local, g->out) + dragonfly_hops(d, g->in, t.local) != best)
				continue;
			count = dragonfly_ways(d, s.local, g->out) * dragonfly_ways(d, g->in, t.local);
			if (k < count)
				break;
			k -= count;
		}
	}
	ways = dragonfly_ways(d, s.local, g->out);
	gate_path(d, s, t, g, ways == 2 ? k & 1 : 0, ways == 2 ? k >> 1 : k, link);
}

/* One of the shortest paths by 16 random bits. The innermost loop of the adaptive routings. */
static inline void leg_draw(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t,
	uint32_t bits, uint32_t *link)
{
	if (s.group == t.group) {
		dragonfly_leg_ends(d, s.group * d->local, d->at[s.local], d->at[t.local], bits & 1, link);
		link[2] = link[3] = link[4] = NET_VOID;
	} else if (d->end) {
		/* Where there is one way only, both orders are that way. */
		ends_path(d, s, t, end_out(d, s.group, t.group), end_out(d, t.group, s.group), bits & 1, bits >> 1 & 1,
			link);
	} else {
		dragonfly_path(d, s, t, (bits & 0xffff) * dragonfly_count(d, s, t) >> 16, link);
	}
}

/* --- the operations --- */

static struct dragonfly_place point_place(const struct dragonfly *d, uint32_t point)
{
	return d->place[dragonfly_router(d, point)];
}

/* The links of the nodes go to the front and to the end; returns where the path between the routers begins. */
static uint32_t *hosts_add(const struct dragonfly *d, uint32_t s, uint32_t t, uint32_t *link, uint32_t slots)
{
	if (!d->inject)
		return link;
	link[0] = d->routers * d->slots + 2 * s;
	link[slots - 1] = d->routers * d->slots + 2 * t + 1;
	return link + 1;
}

static uint32_t dragonfly_direct_count(const struct net *net, uint32_t s, uint32_t t)
{
	const struct dragonfly *d = (const struct dragonfly *)net;

	return dragonfly_count(d, point_place(d, s), point_place(d, t));
}

static void dragonfly_direct(const struct net *net, uint32_t s, uint32_t t, uint32_t k, uint32_t *link)
{
	const struct dragonfly *d = (const struct dragonfly *)net;

	dragonfly_path(d, point_place(d, s), point_place(d, t), k, hosts_add(d, s, t, link, net->direct_slots));
}

/* Leg (from, to) of routers of a group is number from x local + to. Both ways: see dragonfly_leg_ends(), of which this
 * is both orders at once. Where there is one way only, both are that way. */
static void dragonfly_legs_list(const struct net *net, uint32_t first, uint32_t n, struct net_leg *leg)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	/* Exact for all 32-bit numbers: the error of the inverse is below 2^-64 * first < 1 / local. */
	uint32_t from = d->local == 1 ? first : (uint32_t)((unsigned __int128)d->local_inverse * first >> 64);
	uint32_t to = first - from * d->local;

	while (n--) {
		uint32_t base = from - d->place[from].local, slots = d->slots;
		struct dragonfly_end a = d->at[d->place[from].local], b = d->at[to];
		uint32_t along = b.position, across = d->width + b.row;

		leg->link[0][0] = from * slots + along;
		leg->link[0][1] = (base + a.row * d->width + b.position) * slots + across;
		leg->link[1][0] = from * slots + across;
		leg->link[1][1] = (base + b.row * d->width + a.position) * slots + along;
		leg++;
		if (++to == d->local) {
			to = 0;
			from++;
		}
	}
}

static void dragonfly_fork(const struct net *net, uint32_t s, uint32_t t, struct net_fork *f)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	struct dragonfly_place from = point_place(d, s), to = point_place(d, t);
	uint32_t out = to.local, in = out;

	f->middle[0] = NET_VOID;
	if (from.group != to.group) {
		const struct dragonfly_gate *g = dragonfly_gates(d, from.group, to.group);

		out = g->out;
		in = g->in;
		f->middle[0] = dragonfly_global(d, from.group, g);
	}
	if (d->inject) {
		f->middle[1] = d->routers * d->slots + 2 * s;
		f->middle[2] = d->routers * d->slots + 2 * t + 1;
	}
	f->first = (from.group * d->local + from.local) * d->local + out;
	f->last = (to.group * d->local + in) * d->local + to.local;
}

/*
 * paper: any router of the machine, uniformly, also for messages within a group, and also s or t itself.
 * release: within a group, a router of that group; between groups, a group is drawn and then a router of it, but if
 * the group is that of the source or of the destination, the path is a shortest one.
 */
static void dragonfly_indirect(const struct net *net, uint32_t s, uint32_t t, uint64_t bits, uint32_t *link)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	struct dragonfly_place from = point_place(d, s), to = point_place(d, t), via;
	uint32_t draw = (uint32_t)(bits >> 32);

	link = hosts_add(d, s, t, link, net->indirect_slots);
	if (d->rule == DRAGONFLY_OUTSIDE && from.group == to.group) {
		via = (struct dragonfly_place){from.group, (uint16_t)rng_below(draw, d->local)};
	} else {
		/* The router's place in a group is drawn with the remainder of the group's draw. */
		uint64_t wide = (uint64_t)draw * d->groups;

		via.group = (uint16_t)(wide >> 32);
		via.local = (uint16_t)rng_below((uint32_t)wide, d->local);
		if (d->rule == DRAGONFLY_OUTSIDE && (via.group == from.group || via.group == to.group))
			via = to;
	}
	leg_draw(d, from, via, (uint32_t)bits & 0xffff, link);
	leg_draw(d, via, to, (uint32_t)bits >> 16, link + DRAGONFLY_SLOTS);
}

static void dragonfly_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	uint32_t r = link / d->slots, slot = link % d->slots, to = r, host = link - d->routers * d->slots;
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
		to = d->peer[r * d->ports + slot];
		snprintf(port, sizeof(port), ".p%u", slot);
	}
	b = d->place[to];
	snprintf(buf, size, "g%u.c%u.r%u%s>g%u.c%u.r%u", a.group, d->at[a.local].row, d->at[a.local].position, port,
		b.group, d->at[b.local].row, d->at[b.local].position);
}

const struct net_ops net_dragonfly = {
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
	.direct_count = dragonfly_direct_count,
	.direct = dragonfly_direct,
	.fork = dragonfly_fork,
	.legs_list = dragonfly_legs_list,
	.indirect = dragonfly_indirect,
	.load_direct = dragonfly_load_direct,
	.load_indirect = dragonfly_load_indirect,
	.link_name = dragonfly_link_name,
};
