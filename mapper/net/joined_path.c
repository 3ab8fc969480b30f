/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a joined network: legs inside the members, and crossings between them. */
#include "mapper/net/joined_path.h"

struct spot joined_path_spot(const struct joined *j, uint32_t point)
{
	uint32_t p = j->nmembers - 1;

	while (point < j->member[p].first_point)
		p--;
	return (struct spot){p, point - j->member[p].first_point};
}

/* Is a rank at this spot attached to the zipper itself? */
static bool spot_is_zipper(const struct joined *j, struct spot s, const struct zipper *z)
{
	return z->point[s.member] == s.point && j->member[s.member].net->points == j->member[s.member].net->nodes;
}

/* The zipper that a message must take because one of its ends is on that zipper's node; NULL: there is none. */
static const struct zipper *zipper_own(const struct joined *j, struct spot s, struct spot d)
{
	for (uint32_t z = 0; z < j->nzippers; z++)
		if (zipper_joins(&j->zipper[z], s.member, j->next[s.member][d.member]) &&
			(spot_is_zipper(j, s, &j->zipper[z]) || spot_is_zipper(j, d, &j->zipper[z])))
			return &j->zipper[z];
	return NULL;
}

static uint32_t leg_count(const struct joined *j, uint32_t member, uint32_t s, uint32_t d)
{
	const struct net *net = j->member[member].net;

	return s == d ? 1 : net->ops->direct_count(net, s, d);
}

static uint64_t count_paths(const struct joined *j, struct spot s, struct spot d);

/* Do the zippers that carry the job join these members? */
static bool carried(const struct joined *j, uint32_t from, uint32_t to)
{
	bool any = false;

	for (uint32_t z = 0; z < j->nzippers && j->some_carry; z++)
		any |= j->zipper[z].carries && zipper_joins(&j->zipper[z], from, to);
	return any;
}

static void crossings_weigh(struct crossing *list, uint32_t n, bool even)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		list[i].weight = list[i].before * list[i].behind;
		most = list[i].weight > most ? list[i].weight : most;
	}
	for (uint32_t i = 0; i < n && even; i++)
		list[i].weight = most;
}

uint32_t joined_path_crossings(const struct joined *j, struct spot s, struct spot d, struct crossing *list)
{
	const struct zipper *own = zipper_own(j, s, d);
	uint32_t to = j->next[s.member][d.member], n = 0;
	bool even = !own && carried(j, s.member, to);

	for (uint32_t i = 0; i < j->nzippers; i++) {
		const struct zipper *z = &j->zipper[i];

		if (!zipper_joins(z, s.member, to) || (own && z != own) || (even && !z->carries))
			continue;
		list[n].z = z;
		list[n].after = (struct spot){to, z->point[to]};
		list[n].before = leg_count(j, s.member, s.point, z->point[s.member]);
		list[n++].behind = count_paths(j, (struct spot){to, z->point[to]}, d);
	}
	crossings_weigh(list, n, even);
	return n;
}

static uint64_t count_paths(const struct joined *j, struct spot s, struct spot d)
{
	struct crossing list[j->nzippers];
	uint64_t sum = 0;
	uint32_t n;

	if (s.member == d.member)
		return leg_count(j, s.member, s.point, d.point);
	n = joined_path_crossings(j, s, d, list);
	for (uint32_t i = 0; i < n; i++)
		sum += list[i].weight;
	return sum;
}

static uint32_t *leg_fill(const struct joined *j, uint32_t member, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct net *net = j->member[member].net;

	if (s == d)
		return link;
	net->ops->direct(net, s, d, k, link);
	for (uint32_t i = 0; i < net->direct_slots; i++)
		link[i] += j->member[member].first_link;
	return link + net->direct_slots;
}

uint32_t *joined_path_cross(const struct joined *j, struct spot s, struct spot d, const struct crossing *c,
	uint32_t *link)
{
	bool from = spot_is_zipper(j, s, c->z), to = c->after.member == d.member && spot_is_zipper(j, d, c->z);
	uint32_t a = s.member, b = c->after.member;

	if (!from)
		*link++ = c->z->link + a * j->nmembers + a;
	if (!from && !to)
		*link++ = c->z->link + a * j->nmembers + b;
	if (!to)
		*link++ = c->z->out + b;
	return link;
}

static uint32_t *path_fill(const struct joined *j, struct spot s, struct spot d, uint64_t k, uint32_t *link)
{
	struct crossing list[j->nzippers], *c = list;

	if (s.member == d.member)
		return leg_fill(j, s.member, s.point, d.point, (uint32_t)k, link);
	joined_path_crossings(j, s, d, list);
	for (; k >= c->weight; c++)
		k -= c->weight;
	/* where the weight exceeds the number of paths, some paths come several times */
	k = (uint64_t)((unsigned __int128)k * (c->before * c->behind) / c->weight);
	link = leg_fill(j, s.member, s.point, c->z->point[s.member], (uint32_t)(k % c->before), link);
	link = joined_path_cross(j, s, d, c, link);
	return path_fill(j, c->after, d, k / c->before, link);
}

uint32_t joined_path_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	const struct joined *j = (const struct joined *)net;
	uint64_t n = count_paths(j, joined_path_spot(j, s), joined_path_spot(j, d));

	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void joined_path_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct joined *j = (const struct joined *)net;
	uint32_t *end = path_fill(j, joined_path_spot(j, s), joined_path_spot(j, d), k, link);

	while (end < link + net->direct_slots)
		*end++ = NET_VOID;
}

uint32_t joined_path_single(const struct net *net, uint32_t s, uint32_t d)
{
	const struct joined *j = (const struct joined *)net;
	struct spot from = joined_path_spot(j, s), to = joined_path_spot(j, d);

	if (from.member == to.member)
		return net_single(j->member[from.member].net, from.point, to.point);
	return d % joined_path_direct_count(net, s, d);
}

void joined_path_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	const struct joined *j = (const struct joined *)net;
	struct spot from = joined_path_spot(j, s), to = joined_path_spot(j, d);
	const struct joined_member *p = &j->member[from.member];
	uint32_t n = net->direct_slots;

	if (from.member == to.member) {
		n = p->net->indirect_slots;
		p->net->ops->indirect(p->net, from.point, to.point, bits, link);
		for (uint32_t i = 0; i < n; i++)
			link[i] += p->first_link;
	} else {
		joined_path_direct(net, s, d,
			(uint32_t)((unsigned __int128)bits * joined_path_direct_count(net, s, d) >> 64), link);
	}
	while (n < net->indirect_slots)
		link[n++] = NET_VOID;
}
