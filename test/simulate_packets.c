/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet-level discrete-event simulation, to compare the network model with (section IV.D of the paper, Figure 2). It
 * knows topologies only by their paths, and nothing of the model's allocation. Every packet is routed when it is sent.
 * It waits in the queue of each link on its way, is sent on when the link is free, and is stored before it is
 * forwarded.
 *
 *	direct    one of the shortest paths, at random
 *	indirect  a path over a random intermediate router
 *	adaptive  of up to two shortest paths and two indirect ones, the path with the shortest waiting time (queues are
 *	          known everywhere, as UGAL-G assumes)
 *	local     of the same paths, the one whose first link has the shortest queue (UGAL-L)
 *
 * usage: simulate_packets NETWORK JOB PLACEMENT PACKET_BYTES FILE.csv
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "mapper/net/topology.h"
#include "mapper/model/model.h"
#include "mapper/model/outcome.h"
#include "mapper/model/job_placement.h"
#include "mapper/base/rng.h"
#include "mapper/model/workload.h"

#define BINS 200
#define SOURCE_LINKS 4.0 /* a router sends its packets at so many times the bandwidth of a link */

struct packet {
	uint32_t link[NET_SLOTS_MAX];
	uint32_t hops, at;
};

/* An event: a packet comes to its next link (packet < SOURCE), or a source sends. */
struct event {
	double time;
	uint64_t order; /* order of creation: decides between events at the same time */
	uint32_t packet, source;
};

#define SOURCE UINT32_MAX

struct source {
	const struct traffic_item *item;
	uint32_t items, next; /* messages are served in turn */
	uint64_t *left;	      /* bytes of each */
	uint64_t sent;	      /* packets */
};

enum routing_kind { DIRECT, INDIRECT, ADAPTIVE, LOCAL, KINDS };

struct sim {
	const struct net *net;
	enum routing_kind kind;
	uint64_t packet_bytes, unit;
	struct event *heap;
	size_t n, cap;
	uint64_t order;
	double *free_at; /* [links]: the time at which the last packet in the queue will have left */
	double *load;	 /* [links], bytes */
	struct source *sources;
	struct packet *packets;
	uint32_t npackets, cap_packets, *unused, nunused;
	double byte_hops, end;
	double link_seconds; /* time of one packet on a link of common bandwidth */
};

static void die(const char *what)
{
	fprintf(stderr, "simulate_packets: %s\n", what);
	exit(1);
}

static void *grow(void *memory, size_t n, size_t size)
{
	void *more = realloc(memory, n * size);

	if (!more)
		die("not enough memory");
	return more;
}

/* --- the queue of events: a binary heap --- */

static bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (!(b->time < a->time) && a->order < b->order);
}

static void event_push(struct sim *s, double time, uint32_t packet, uint32_t source)
{
	struct event e = {time, s->order++, packet, source};
	size_t at = s->n++;

	if (s->n > s->cap) {
		s->cap = 2 * s->n;
		s->heap = grow(s->heap, s->cap, sizeof(*s->heap));
	}
	while (at && before(&e, &s->heap[(at - 1) / 2])) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = e;
}

static struct event event_pop(struct sim *s)
{
	struct event first = s->heap[0], last = s->heap[--s->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < s->n) {
		child += child + 1 < s->n && before(&s->heap[child + 1], &s->heap[child]);
		if (!before(&s->heap[child], &last))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
	return first;
}

/* --- packets --- */

static void path_take(const struct sim *s, struct packet *p, const uint32_t *link, uint32_t slots)
{
	p->hops = p->at = 0;
	for (uint32_t i = 0; i < slots; i++)
		if (s->net->link_class[link[i]] != NET_NONE)
			p->link[p->hops++] = link[i];
}

static double path_wait(const struct sim *s, const struct packet *p, double now)
{
	uint32_t known = s->kind == LOCAL && p->hops ? 1 : p->hops;
	double wait = 0;

	for (uint32_t i = 0; i < known; i++) {
		double queue = s->free_at[p->link[i]] - now;

		wait += (queue > 0 ? queue : 0) + (double)s->packet_bytes / (double)s->net->capacity[p->link[i]];
	}
	return wait;
}

static void packet_route(const struct sim *s, struct packet *p, uint32_t from, uint32_t to, uint64_t bits, double now)
{
	const struct net *net = s->net;
	uint32_t link[NET_SLOTS_MAX], n = net->ops->direct_count(net, from, to), direct = n < 2 ? n : 2;
	struct packet other;
	double best = 0, wait;

	if (s->kind == DIRECT) {
		net->ops->direct(net, from, to, rng_below((uint32_t)bits, n), link);
		path_take(s, p, link, net->direct_slots);
		return;
	}
	if (s->kind == INDIRECT) {
		net->ops->indirect(net, from, to, bits, link);
		path_take(s, p, link, net->indirect_slots);
		return;
	}
	for (uint32_t k = 0; k < 4; k++) {
		bits = rng_mix(bits + k);
		if (k < direct)
			net->ops->direct(net, from, to, (rng_below((uint32_t)bits, n) + k) % n, link);
		else
			net->ops->indirect(net, from, to, bits, link);
		path_take(s, &other, link, k < direct ? net->direct_slots : net->indirect_slots);
		wait = path_wait(s, &other, now);
		if (!k || wait < best) {
			best = wait;
			*p = other;
		}
	}
}

static uint32_t packet_new(struct sim *s)
{
	if (s->nunused)
		return s->unused[--s->nunused];
	if (s->npackets == s->cap_packets) {
		s->cap_packets = s->cap_packets ? 2 * s->cap_packets : 4096;
		s->packets = grow(s->packets, s->cap_packets, sizeof(*s->packets));
		s->unused = grow(s->unused, s->cap_packets, sizeof(*s->unused));
	}
	return s->npackets++;
}

static void source_send(struct sim *s, uint32_t from, double now)
{
	struct source *src = &s->sources[from];
	uint32_t id;

	for (uint32_t tried = 0; tried < src->items && !src->left[src->next]; tried++)
		src->next = (src->next + 1) % src->items;
	if (!src->left[src->next])
		return;
	id = packet_new(s);
	packet_route(s, &s->packets[id], from, src->item[src->next].dst, rng_at(1, RNG_TEST, from, src->sent++), now);
	src->left[src->next] -= src->left[src->next] < s->packet_bytes ? src->left[src->next] : s->packet_bytes;
	src->next = (src->next + 1) % src->items;
	event_push(s, now, id, 0);
	event_push(s, now + s->link_seconds / SOURCE_LINKS, SOURCE, from);
}

static void packet_move(struct sim *s, uint32_t id, double now)
{
	struct packet *p = &s->packets[id];
	uint32_t link;
	double start;

	if (p->at == p->hops) {
		s->unused[s->nunused++] = id;
		return;
	}
	link = p->link[p->at++];
	start = s->free_at[link] > now ? s->free_at[link] : now;
	s->free_at[link] = start + (double)s->packet_bytes / (double)s->net->capacity[link];
	s->load[link] += (double)s->packet_bytes;
	s->byte_hops += (double)s->packet_bytes;
	event_push(s, s->free_at[link], id, 0);
}

static void sim_run(struct sim *s)
{
	for (uint32_t i = 0; i < s->net->points; i++)
		if (s->sources[i].items)
			event_push(s, 0, SOURCE, i);
	while (s->n) {
		struct event e = event_pop(s);

		s->end = e.time;
		if (e.packet == SOURCE)
			source_send(s, e.source, e.time);
		else
			packet_move(s, e.packet, e.time);
	}
}

static void sources_fill(struct sim *s, const struct traffic *t)
{
	for (size_t k = 0; k < t->nchunks; k++) {
		const struct traffic_chunk *c = &t->chunks[k];

		for (uint32_t i = 0; i < c->n; i++) {
			struct source *src = &s->sources[c->first + i];

			src->item = c->items + c->off[i];
			src->items = (uint32_t)(c->off[i + 1] - c->off[i]);
			src->next = 0;
			src->sent = 0;
			src->left = grow(src->left, src->items + 1, sizeof(*src->left));
			for (uint32_t m = 0; m < src->items; m++)
				src->left[m] = src->item[m].units * t->unit;
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const names[KINDS] = {"direct", "indirect", "adaptive", "local"};
	struct zerr err = {""};
	struct sim s = {0};
	struct spec_list jobs;
	struct workload w;
	struct traffic t;
	struct net *net;
	uint32_t *order;
	FILE *f;

	if (argc != 6 || zargs_parse_u64(argv[4], &s.packet_bytes) || !job_placement_find(argv[3]))
		die("usage: simulate_packets NETWORK JOB PLACEMENT PACKET_BYTES FILE.csv");
	if (topology_create(argv[1], &net, &err) || spec_parse(&jobs, argv[2], "job", false, &err) ||
		workload_create(&w, net, &jobs, 1, false, &err))
		die(err.text);
	order = grow(NULL, net->nodes, sizeof(*order));
	job_placement_find(argv[3])->order(job_placement_find(argv[3]), net, 1, order);
	f = fopen(argv[5], "w");
	if (!f || workload_traffic(net, &w.jobs[0], order, NULL, 1, &t, &err))
		die(f ? err.text : "output cannot be created");
	s.net = net;
	s.sources = calloc(net->points, sizeof(*s.sources));
	s.free_at = calloc(net->links, sizeof(double));
	s.load = calloc(net->links, sizeof(double));
	if (!s.sources || !s.free_at || !s.load)
		die("not enough memory");
	for (uint32_t l = 0; l < net->links; l++)
		if (net->link_class[l] != NET_NONE)
			s.link_seconds = (double)s.packet_bytes / (double)net->capacity[l];
	outcome_csv_head(f, BINS);
	for (int k = 0; k < KINDS; k++) {
		struct outcome o = {.network = argv[1],
			.jobs = argv[2],
			.placement = argv[3],
			.routing = names[k],
			.messages = t.messages,
			.bytes = t.bytes};

		s.kind = (enum routing_kind)k;
		s.byte_hops = 0;
		memset(s.free_at, 0, net->links * sizeof(double));
		memset(s.load, 0, net->links * sizeof(double));
		sources_fill(&s, &t);
		sim_run(&s);
		for (int i = 0; i < LINK_STATS_KINDS; i++)
			if (link_stats_make(&o.stats[i], net, s.load, &link_stats_kinds[i], BINS))
				die("not enough memory");
		o.result.byte_hops = s.byte_hops;
		o.result.seconds = s.end;
		outcome_csv(&o, f);
		outcome_free(&o);
	}
	if (fclose(f))
		die("output cannot be written");
	for (uint32_t i = 0; i < net->points; i++)
		free(s.sources[i].left);
	free(s.sources);
	free(s.free_at);
	free(s.load);
	free(s.heap);
	free(s.packets);
	free(s.unused);
	free(order);
	traffic_free(&t);
	workload_free(&w);
	spec_free(&jobs);
	net_destroy(net);
	return 0;
}
