/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of a joined network. Messages are cut into legs inside the members, and each member loads its own legs. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/net/joined_load.h"
#include "mapper/net/joined_path.h"
#include "mapper/traffic/traffic.h"

struct legs {
	uint32_t *src, *dst;
	uint64_t *bytes;
	size_t n, cap;
};

static int leg_push(struct legs *l, uint32_t src, uint32_t dst, uint64_t bytes)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 1024;
		uint32_t *s = realloc(l->src, cap * sizeof(*s)), *d;
		uint64_t *b;

		if (s)
			l->src = s;
		d = realloc(l->dst, cap * sizeof(*d));
		if (d)
			l->dst = d;
		b = realloc(l->bytes, cap * sizeof(*b));
		if (b)
			l->bytes = b;
		if (!s || !d || !b)
			return -ENOMEM;
		l->cap = cap;
	}
	l->src[l->n] = src;
	l->dst[l->n] = dst;
	l->bytes[l->n++] = bytes;
	return 0;
}

/* Cuts bytes from s to d: puts the legs inside members into `legs`, and loads the zippers' links. The remainders of
 * divisions go to the first crossing. */
static int message_cut(const struct joined *j, struct spot s, struct spot d, uint64_t bytes, struct legs *legs,
	struct net_load *load)
{
	struct crossing list[j->nzippers];
	uint64_t all = 0, rest = bytes;
	uint32_t n, link[ZIPPER_SLOTS];
	int rc = 0;

	if (s.member == d.member)
		return s.point == d.point ? 0 : leg_push(&legs[s.member], s.point, d.point, bytes);
	n = joined_path_crossings(j, s, d, list);
	for (uint32_t i = 0; i < n; i++)
		all += list[i].weight;
	for (uint32_t i = n; i-- > 0 && !rc;) {
		unsigned __int128 product = (unsigned __int128)bytes * list[i].weight;
		uint64_t share = i ? (uint64_t)(product / all) : rest;
		uint32_t *end = joined_path_cross(j, s, d, &list[i], link);

		rest -= share;
		for (uint32_t *l = link; l < end; l++) {
			load->bytes[*l] += (double)share;
			load->byte_hops += (double)share;
		}
		if (share && s.point != list[i].z->point[s.member])
			rc = leg_push(&legs[s.member], s.point, list[i].z->point[s.member], share);
		if (!rc && share)
			rc = message_cut(j, list[i].after, d, share, legs, load);
	}
	return rc;
}

static int legs_load(const struct joined_member *p, const struct legs *l, unsigned threads, bool indirect,
	struct net_load *load)
{
	struct net_load inner = {.bytes = load->bytes + p->first_link};
	struct traffic t;
	int rc = traffic_build_list(&t, p->net->points, l->n, l->src, l->dst, l->bytes, NULL);

	if (rc)
		return rc;
	rc = (indirect ? p->net->ops->load_indirect : p->net->ops->load_direct)(p->net, &t, threads, &inner);
	load->byte_hops += inner.byte_hops;
	traffic_free(&t);
	return rc;
}

static int joined_load(const struct net *net, const struct traffic *t, unsigned threads, bool indirect,
	struct net_load *load)
{
	const struct joined *j = (const struct joined *)net;
	struct legs legs[2][JOINED_MEMBERS_MAX] = {0}; /* [0]: direct legs; [1]: indirect legs */
	int rc = 0;

	for (size_t k = 0; k < t->nchunks && !rc; k++) {
		const struct traffic_chunk *c = &t->chunks[k];

		for (uint32_t i = 0; i < c->n && !rc; i++) {
			struct spot s = joined_path_spot(j, c->first + i);

			for (uint64_t m = c->off[i]; m < c->off[i + 1] && !rc; m++) {
				struct spot d = joined_path_spot(j, c->items[m].dst);

				rc = message_cut(j, s, d, c->items[m].units * t->unit,
					legs[indirect && s.member == d.member], load);
			}
		}
	}
	for (uint32_t p = 0; p < j->nmembers && !rc; p++) {
		rc = legs_load(&j->member[p], &legs[0][p], threads, false, load);
		if (!rc)
			rc = legs_load(&j->member[p], &legs[1][p], threads, true, load);
	}
	for (int k = 0; k < 2; k++)
		for (uint32_t p = 0; p < j->nmembers; p++) {
			free(legs[k][p].src);
			free(legs[k][p].dst);
			free(legs[k][p].bytes);
		}
	return rc;
}

int joined_load_direct(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return joined_load(net, t, threads, false, load);
}

int joined_load_indirect(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return joined_load(net, t, threads, true, load);
}
