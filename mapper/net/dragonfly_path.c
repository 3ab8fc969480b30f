/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a dragonfly. The shortest paths within a group have one hop in the same row or column, else two hops, row or
 * column first. The shortest paths between groups have (0 to 2 hops) x 1 x (0 to 2 hops), over those links of the two
 * groups that have the fewest hops. Paths over a third group do not count as shortest paths, even where they would have
 * fewer hops. */
#include "mapper/net/dragonfly_path.h"

#include "mapper/base/rng.h"

/* The fewest hops over the links between two groups. *count: the number of paths with so few hops. */
static uint32_t bundle_best(const struct dragonfly *d, const struct dragonfly_gate *g, uint32_t a, uint32_t b,
	uint32_t *count)
{
	uint32_t best = UINT32_MAX;

	*count = 0;
	for (uint32_t l = 0; l < g->bundle; l++) {
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

/* Where a rule wires the groups, the ends of a level-2 link come from a table that stays in the first-level cache. */
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

uint32_t dragonfly_path_count(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t)
{
	const struct dragonfly_gate *g;
	uint32_t count;

	if (s.group == t.group)
		return dragonfly_ways(d, s.local, t.local);
	if (d->end)
		return ends_ways(d->at[s.local], end_out(d, s.group, t.group)) *
		       ends_ways(end_out(d, t.group, s.group), d->at[t.local]);
	g = dragonfly_gates(d, s.group, t.group);
	bundle_best(d, g, s.local, t.local, &count);
	return count;
}

static void gate_path(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t,
	const struct dragonfly_gate *g, uint32_t first, uint32_t last, uint32_t *link)
{
	dragonfly_leg(d, s.group * d->local, s.local, g->out, first, link);
	link[2] = dragonfly_global(d, s.group, g);
	dragonfly_leg(d, t.group * d->local, g->in, t.local, last, link + 3);
}

void dragonfly_path_between(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t, uint32_t k,
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
	if (g->bundle > 1) {
		best = bundle_best(d, g, s.local, t.local, &count);
		for (uint32_t l = g->bundle; l; l--, g++) {
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

/* Draws one of the shortest paths by 16 random bits. This is the innermost loop of the adaptive routings. */
static inline void leg_draw(const struct dragonfly *d, struct dragonfly_place s, struct dragonfly_place t,
	uint32_t bits, uint32_t *link)
{
	if (s.group == t.group) {
		dragonfly_leg_ends(d, s.group * d->local, d->at[s.local], d->at[t.local], bits & 1, link);
		link[2] = link[3] = link[4] = NET_VOID;
	} else if (d->end) {
		/* Where there is one way only, both orders give that way. */
		ends_path(d, s, t, end_out(d, s.group, t.group), end_out(d, t.group, s.group), bits & 1, bits >> 1 & 1,
			link);
	} else {
		dragonfly_path_between(d, s, t, (bits & 0xffff) * dragonfly_path_count(d, s, t) >> 16, link);
	}
}

/* --- paths between points --- */

static struct dragonfly_place point_place(const struct dragonfly *d, uint32_t point)
{
	return d->place[dragonfly_router(d, point)];
}

/* Puts the links of the nodes to the front and to the end. Returns where the path between the routers begins. */
static uint32_t *hosts_add(const struct dragonfly *d, uint32_t s, uint32_t t, uint32_t *link, uint32_t slots)
{
	if (!d->inject)
		return link;
	link[0] = d->routers * d->slots + 2 * s;
	link[slots - 1] = d->routers * d->slots + 2 * t + 1;
	return link + 1;
}

uint32_t dragonfly_path_direct_count(const struct net *net, uint32_t s, uint32_t t)
{
	const struct dragonfly *d = (const struct dragonfly *)net;

	return dragonfly_path_count(d, point_place(d, s), point_place(d, t));
}

void dragonfly_path_direct(const struct net *net, uint32_t s, uint32_t t, uint32_t k, uint32_t *link)
{
	const struct dragonfly *d = (const struct dragonfly *)net;

	dragonfly_path_between(d, point_place(d, s), point_place(d, t), k, hosts_add(d, s, t, link, net->direct_slots));
}

/* Leg (from, to) of two routers of a group has the number from x local + to. Fills in both orders of
 * dragonfly_leg_ends() at once. Where there is one way only, both are that way. */
void dragonfly_path_legs_list(const struct net *net, uint32_t first, uint32_t n, struct net_leg *leg)
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

void dragonfly_path_fork(const struct net *net, uint32_t s, uint32_t t, struct net_fork *f)
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
 * Rule "paper": the intermediate router is any router of the machine, drawn uniformly. This holds for messages within a
 * group as well, and it may be s or t itself.
 *
 * Rule "release": within a group, it is a router of that group. Between groups, a group is drawn, then a router of it.
 * If the group is that of the source or of the destination, the path is a shortest one.
 *
 * Messages between nodes of one router (where points are nodes) do not leave that router.
 */
void dragonfly_path_indirect(const struct net *net, uint32_t s, uint32_t t, uint64_t bits, uint32_t *link)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	struct dragonfly_place from = point_place(d, s), to = point_place(d, t), via;
	uint32_t draw = (uint32_t)(bits >> 32);

	link = hosts_add(d, s, t, link, net->indirect_slots);
	if (from.group == to.group && from.local == to.local) {
		via = to;
	} else if (d->rule == DRAGONFLY_OUTSIDE && from.group == to.group) {
		via = (struct dragonfly_place){from.group, (uint16_t)rng_below(draw, d->local)};
	} else {
		/* The router in the group is drawn with the remainder of the group's draw. */
		uint64_t wide = (uint64_t)draw * d->groups;

		via.group = (uint16_t)(wide >> 32);
		via.local = (uint16_t)rng_below((uint32_t)wide, d->local);
		if (d->rule == DRAGONFLY_OUTSIDE && (via.group == from.group || via.group == to.group))
			via = to;
	}
	leg_draw(d, from, via, (uint32_t)bits & 0xffff, link);
	leg_draw(d, via, to, (uint32_t)bits >> 16, link + DRAGONFLY_SLOTS);
}
