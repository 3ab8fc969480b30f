/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads of a dragonfly without writing down paths. A path consists of one or two legs inside groups, and a level-2
 * link. Where two groups have one link, the gates make the legs independent of each other. Bytes are therefore first
 * summed for each leg (pair of routers of a group) and each pair of groups. Then each leg is split once over its one or
 * two ways.
 *
 * Direct loads: sums are integers (bytes), and a leg has two ways at most. Loads are therefore exact to the byte, or
 * half byte. Indirect loads: the expectation over a uniformly drawn intermediate router needs only the bytes that each
 * router sends and receives.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mapper/net/dragonfly_load.h"
#include "mapper/net/dragonfly_path.h"
#include "mapper/base/par.h"
#include "mapper/traffic/traffic.h"

/* Above this size of the leg matrix, in bytes, paths are enumerated instead. */
#define LEGS_MAX (1ull << 31)
#define NO_MEMORY (-1.0) /* stands for a group's hops */

struct sums {
	const struct dragonfly *d;
	const struct traffic *t;
	double *bytes; /* the result, [links] */
	/* Sums of bytes, shared by all threads, atomic; [groups][A][A]. inside: within a group; first: from the source
	 * to the gate; last: from the gate to the destination. The three may be the same memory where no difference is
	 * made between them. */
	uint64_t *inside, *first, *last;
	uint64_t *global;		 /* [groups][groups] */
	uint64_t *sent, *received;	 /* [routers]; where `apart`, without the bytes that stay in a group */
	uint64_t *sent_in, *received_in; /* [routers]; where `apart`, the bytes that stay in a group */
	uint64_t *group_sent, *group_received;
	bool apart;
	double *hops; /* bytes x hops: [chunks] while scanning, [groups] afterwards, which may also be NO_MEMORY */
};

static void add(uint64_t *at, uint64_t bytes)
{
	__atomic_fetch_add(at, bytes, __ATOMIC_RELAXED);
}

/* Sums all that the closed forms need, in one pass over the items. */
static void scan_chunk(void *arg, size_t item, unsigned worker)
{
	struct sums *s = arg;
	const struct dragonfly *d = s->d;
	const struct traffic_chunk *c = &s->t->chunks[item];
	size_t square = (size_t)d->local * d->local;
	uint64_t hops = 0;

	(void)worker;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t from = dragonfly_router(d, c->first + i);
		struct dragonfly_place a = d->place[from];
		uint64_t sent = 0, sent_in = 0;

		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
			uint32_t to = dragonfly_router(d, c->items[j].dst);
			struct dragonfly_place b = d->place[to];
			uint64_t bytes = c->items[j].units * s->t->unit;
			const struct dragonfly_gate *g;

			if (from == to) /* between nodes of one router: only their own links, see hosts_load() */
				continue;
			if (a.group == b.group) {
				sent_in += bytes;
				if (s->received_in)
					add(&s->received_in[to], bytes);
				if (s->inside)
					add(&s->inside[a.group * square + a.local * d->local + b.local], bytes);
				hops += bytes * !s->apart * dragonfly_hops(d, a.local, b.local);
				continue;
			}
			sent += bytes;
			if (s->received)
				add(&s->received[to], bytes);
			if (!s->first)
				continue;
			g = dragonfly_gates(d, a.group, b.group);
			add(&s->first[a.group * square + a.local * d->local + g->out], bytes);
			add(&s->global[(size_t)a.group * d->groups + b.group], bytes);
			add(&s->last[b.group * square + g->in * d->local + b.local], bytes);
			hops += bytes *
				(dragonfly_hops(d, a.local, g->out) + dragonfly_hops(d, g->in, b.local) + !s->apart);
		}
		if (s->sent)
			add(&s->sent[from], sent);
		if (s->sent_in)
			add(&s->sent_in[from], sent_in);
	}
	if (s->hops)
		s->hops[item] = (double)hops;
}

/* Splits the bytes of a leg over its ways. */
static inline void leg_add(const struct sums *s, uint32_t group, uint32_t a, uint32_t b, double bytes)
{
	const struct dragonfly *d = s->d;
	uint32_t ways = dragonfly_ways(d, a, b), link[2];

	for (uint32_t order = 0; order < ways; order++) {
		dragonfly_leg(d, group * d->local, a, b, order, link);
		for (int h = 0; h < 2; h++)
			if (d->net.link_class[link[h]] != NET_NONE)
				s->bytes[link[h]] += bytes / ways;
	}
}

static void direct_group(void *arg, size_t group, unsigned worker)
{
	struct sums *s = arg;
	const struct dragonfly *d = s->d;
	const uint64_t *legs = s->inside + group * d->local * d->local;

	(void)worker;
	for (uint32_t a = 0; a < d->local; a++)
		for (uint32_t b = 0; b < d->local; b++)
			if (legs[a * d->local + b])
				leg_add(s, (uint32_t)group, a, b, (double)legs[a * d->local + b]);
	for (uint32_t h = 0; h < d->groups; h++)
		if (h != group)
			s->bytes[dragonfly_global(d, (uint32_t)group, dragonfly_gates(d, (uint32_t)group, h))] +=
				(double)s->global[group * d->groups + h];
}

/* Loads the links of the nodes, where points are nodes. */
static int hosts_load(const struct dragonfly *d, const struct traffic *t, struct net_load *load)
{
	uint64_t *sums, first = (uint64_t)d->routers * d->slots;

	if (!d->inject)
		return 0;
	sums = calloc(2ull * d->net.points, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (size_t k = 0; k < t->nchunks; k++) {
		const struct traffic_chunk *c = &t->chunks[k];

		for (uint32_t i = 0; i < c->n; i++)
			for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
				sums[2ull * (c->first + i)] += c->items[j].units * t->unit;
				sums[2ull * c->items[j].dst + 1] += c->items[j].units * t->unit;
			}
	}
	for (uint64_t i = 0; i < 2ull * d->net.points; i++)
		load->bytes[first + i] += (double)sums[i];
	load->byte_hops += 2 * (double)t->bytes;
	free(sums);
	return 0;
}

static void sums_free(struct sums *s)
{
	if (s->first != s->inside) {
		free(s->first);
		free(s->last);
	}
	free(s->inside);
	free(s->global);
	free(s->sent);
	free(s->received);
	free(s->sent_in);
	free(s->received_in);
	free(s->group_sent);
	free(s->group_received);
	free(s->hops);
}

static size_t legs_count(const struct dragonfly *d)
{
	return (size_t)d->groups * d->local * d->local;
}

int dragonfly_load_direct(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	struct sums s = {.d = d, .t = t, .bytes = load->bytes};
	int rc;

	if (d->bundle > 1 || legs_count(d) * sizeof(uint64_t) > LEGS_MAX)
		return net_load_enumerated(net, t, threads, load);
	s.inside = s.first = s.last = calloc(legs_count(d), sizeof(uint64_t));
	s.global = calloc((size_t)d->groups * d->groups, sizeof(uint64_t));
	s.hops = calloc(t->nchunks ? t->nchunks : 1, sizeof(*s.hops));
	rc = s.inside && s.global && s.hops ? hosts_load(d, t, load) : -ENOMEM;
	if (!rc) {
		par_run(threads, t->nchunks, scan_chunk, &s);
		par_run(threads, d->groups, direct_group, &s);
		for (size_t i = 0; i < t->nchunks; i++)
			load->byte_hops += s.hops[i];
	}
	sums_free(&s);
	return rc;
}

/* --- expectation over intermediate routers, two groups having one link --- */

/* Sum of the level-1 hops from a router to all routers of its group. */
static double group_hops(const struct dragonfly *d)
{
	return (double)d->local * ((d->width - 1.0) / d->width + (d->chassis - 1.0) / d->chassis);
}

/* The gates of a group; [A] each, by the router that has them. */
struct gates {
	double *arrive, *leave; /* bytes from the gate to a uniform router, and from a uniform router to the gate */
	double *links;		/* level-2 links at a router */
};

/* Adds up the bytes at the gates of group g, and loads its level-2 links. */
static void gates_load(struct sums *s, uint32_t g, const struct gates *at)
{
	const struct dragonfly *d = s->d;
	double any = 1.0 / d->routers, group = 1.0 / d->groups;

	for (uint32_t h = 0; h < d->groups; h++) {
		const struct dragonfly_gate *to;
		double less_out = 0, less_in = 0;

		if (h == g)
			continue;
		to = dragonfly_gates(d, g, h);
		if (s->apart) {
			less_out = (double)s->global[(size_t)g * d->groups + h] * any;
			less_in = (double)s->global[(size_t)h * d->groups + g] * any;
		}
		at->links[to->out]++;
		/* Bytes from group h to a router of this group. They come in by the cable that leads to h. */
		at->arrive[to->out] += (double)s->group_sent[h] * any - less_in;
		at->leave[to->out] += (double)s->group_received[h] * any - less_out;
		s->bytes[dragonfly_global(d, g, to)] +=
			((double)s->group_sent[g] + (double)s->group_received[h]) * group;
	}
}

/*
 * Loads by both rules, group by group. The call for a group writes the links of this group only. Let x be uniformly one
 * of n routers.
 *
 * inside: messages that choose x within the group (n = A, rule "release" only): s -> x -> d.
 *
 * outside: s -> x over all groups, and x -> d from all groups, each with weight 1 / (routers of the machine).
 *
 * For "release", the groups of source and destination must be left out of the outside share, and their messages get
 * direct paths. Bytes are therefore subtracted and added: on the first and last legs and the level-2 links of the
 * direct paths, and on the legs between gates and a uniform router, whose bytes are those of the level-2 links.
 */
static void indirect_group(void *arg, size_t item, unsigned worker)
{
	struct sums *s = arg;
	const struct dragonfly *d = s->d;
	uint32_t g = (uint32_t)item, n = d->local;
	size_t square = (size_t)n * n;
	double any = 1.0 / d->routers, group = 1.0 / d->groups;
	double *memory = calloc(3 * (size_t)n, sizeof(double)), hops = 0;
	double spread = group_hops(d) / n;
	struct gates at;

	(void)worker;
	if (!memory) {
		s->hops[item] = NO_MEMORY;
		return;
	}
	at = (struct gates){memory, memory + n, memory + 2 * (size_t)n};
	gates_load(s, g, &at);
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < n; b++) {
			uint32_t ra = g * n + a, rb = g * n + b;
			double v = at.arrive[a] + at.leave[b] + (double)s->sent[ra] * group * at.links[b] +
				   (double)s->received[rb] * group * at.links[a];

			if (s->apart)
				v += ((double)s->sent_in[ra] + (double)s->received_in[rb]) / n +
				     ((double)s->first[g * square + a * n + b] +
					     (double)s->last[g * square + a * n + b]) *
					     group;
			else
				v += ((double)s->sent[ra] + (double)s->received[rb]) * any;
			if (v > 0 && a != b)
				leg_add(s, g, a, b, v);
			/* A byte to (from) a uniform router of another group goes the way to (from) the gate, over the
			 * cable, and a uniform way behind it. */
			hops += ((double)s->sent[ra] * at.links[b] * group +
					(double)s->received[ra] * at.links[b] * group) *
				(dragonfly_hops(d, a, b) + 1 + spread);
		}
		hops += ((double)s->sent_in[g * n + a] + (double)s->received_in[g * n + a]) * spread;
		if (!s->apart)
			hops += ((double)s->sent[g * n + a] + (double)s->received[g * n + a]) * n * any * spread;
	}
	s->hops[item] = hops;
	free(memory);
}

static int indirect_prepare(struct sums *s)
{
	const struct dragonfly *d = s->d;
	size_t n = d->routers;

	s->sent = calloc(n, sizeof(uint64_t));
	s->received = calloc(n, sizeof(uint64_t));
	s->sent_in = calloc(n, sizeof(uint64_t));
	s->received_in = calloc(n, sizeof(uint64_t));
	s->group_sent = calloc(d->groups, sizeof(uint64_t));
	s->group_received = calloc(d->groups, sizeof(uint64_t));
	s->hops = calloc(s->t->nchunks + d->groups, sizeof(double));
	if (!s->sent || !s->received || !s->sent_in || !s->received_in || !s->group_sent || !s->group_received ||
		!s->hops)
		return -ENOMEM;
	if (!s->apart)
		return 0;
	s->first = calloc(legs_count(d), sizeof(uint64_t));
	s->last = calloc(legs_count(d), sizeof(uint64_t));
	s->global = calloc((size_t)d->groups * d->groups, sizeof(uint64_t));
	return s->first && s->last && s->global ? 0 : -ENOMEM;
}

static void indirect_sum(struct sums *s)
{
	const struct dragonfly *d = s->d;

	for (uint32_t r = 0; r < d->routers; r++) {
		if (!s->apart) { /* a message within a group is treated like any other */
			s->sent[r] += s->sent_in[r];
			s->received[r] += s->received_in[r];
			s->sent_in[r] = s->received_in[r] = 0;
		}
		s->group_sent[r / d->local] += s->sent[r];
		s->group_received[r / d->local] += s->received[r];
	}
}

/* --- expectation where two groups have several links: all pairs of routers are written down --- */

/* Loads are summed as integers, in fractions of a byte, so that the order of additions does not matter. A router's
 * share is small where there are many routers. The fraction is therefore as small as the sums of all bytes leave room
 * for. */
struct pairs {
	const struct sums *s;
	double scale;  /* fractions in a byte: a power of two */
	uint64_t *sum; /* [links], shared, atomic */
	double *hops;  /* [routers] */
};

/* A link carries all bytes twice at most: on the way to intermediate routers, and on the way from them. */
static double scale_for(uint64_t bytes)
{
	return exp2(floor(62 - log2(2 * (double)bytes + 1)));
}

/* All legs from router a: to intermediate routers for the bytes that it sends, and as an intermediate router for the
 * bytes that the others receive. */
static void pairs_router(void *arg, size_t a, unsigned worker)
{
	struct pairs *p = arg;
	const struct sums *s = p->s;
	const struct dragonfly *d = s->d;
	uint32_t link[DRAGONFLY_SLOTS];
	unsigned __int128 crossed = 0; /* by all links together */

	(void)worker;
	for (uint32_t b = 0; b < d->routers; b++) {
		uint32_t n = dragonfly_path_count(d, d->place[a], d->place[b]);
		uint64_t share = (uint64_t)((double)(s->sent[a] + s->received[b]) / d->routers / n * p->scale);

		for (uint32_t k = 0; k < n && share; k++) {
			dragonfly_path_between(d, d->place[a], d->place[b], k, link);
			for (int h = 0; h < DRAGONFLY_SLOTS; h++) {
				if (d->net.link_class[link[h]] == NET_NONE)
					continue;
				add(&p->sum[link[h]], share);
				crossed += share;
			}
		}
	}
	p->hops[a] = (double)crossed;
}

static int indirect_pairs(struct sums *s, unsigned threads, struct net_load *load)
{
	const struct dragonfly *d = s->d;
	struct pairs p = {.s = s, .scale = scale_for(s->t->bytes)};
	int rc = indirect_prepare(s);

	if (!rc)
		rc = hosts_load(d, s->t, load);
	p.sum = calloc(d->net.links, sizeof(*p.sum));
	p.hops = calloc(d->routers, sizeof(*p.hops));
	if (!p.sum || !p.hops)
		rc = -ENOMEM;
	if (!rc) {
		par_run(threads, s->t->nchunks, scan_chunk, s);
		indirect_sum(s);
		par_run(threads, d->routers, pairs_router, &p);
		for (uint32_t l = 0; l < d->net.links; l++)
			load->bytes[l] += (double)p.sum[l] / p.scale;
		for (uint32_t r = 0; r < d->routers; r++)
			load->byte_hops += p.hops[r] / p.scale;
	}
	free(p.sum);
	free(p.hops);
	return rc;
}

int dragonfly_load_indirect(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	const struct dragonfly *d = (const struct dragonfly *)net;
	struct sums s = {.d = d, .t = t, .bytes = load->bytes, .apart = d->rule == DRAGONFLY_OUTSIDE};
	double direct = 0, between = 0;
	int rc;

	if (d->bundle > 1 || legs_count(d) * sizeof(uint64_t) > LEGS_MAX) {
		rc = s.apart ? -ENOTSUP : indirect_pairs(&s, threads, load);
		sums_free(&s);
		return rc;
	}
	rc = indirect_prepare(&s);
	if (!rc)
		rc = hosts_load(d, t, load);
	if (rc)
		goto out;
	par_run(threads, t->nchunks, scan_chunk, &s);
	for (size_t i = 0; i < t->nchunks; i++)
		direct += s.hops[i];
	indirect_sum(&s);
	par_run(threads, d->groups, indirect_group, &s);
	for (uint32_t g = 0; g < d->groups; g++) {
		if (s.hops[g] == NO_MEMORY)
			rc = -ENOMEM;
		load->byte_hops += s.hops[g];
		between += (double)s.group_sent[g];
	}
	/* For each message between groups, the uniform ways into the destination's group and out of the source's group
	 * are taken away, and two direct paths are added (scan_chunk() has summed their level-1 hops). See
	 * indirect_group(). */
	if (s.apart)
		load->byte_hops += (direct - 2 * between * group_hops(d) / d->local) / d->groups;
out:
	sums_free(&s);
	return rc;
}
