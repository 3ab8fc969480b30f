/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet-level simulation of a program, to compare zipmap time with. It knows the network by its paths alone, and
 * shares the reader of programs with zipmap, but no part of the replay. Every packet takes a path of its own, waits at
 * each link until that is free, and is stored before it is forwarded. Messages from one rank to another one are a flow:
 * they are sent in order, with at most WINDOW packets under way; the source hears at once of a packet that has arrived.
 * With windows, fair queues give max-min fair rates to long flows (Hahne, "Round-Robin Scheduling for Max-Min Fairness
 * in Data Networks", IEEE JSAC 9, 1991).
 *
 *	fair   each link serves flows by start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM 1996). A flow over n paths
 *	       has the weight 1/n on each
 *	fifo   each link serves packets in the order in which they come
 *
 * Ranks need no time for messages, and messages no latency but that of their packets. Programs with one-sided
 * operations are refused. Prints the time of the program in seconds.
 *
 * usage: simulate_program NETWORK PLACEMENT SD|DET PACKET_BYTES fair|fifo PROGRAM
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "mapper/base/rng.h"
#include "mapper/model/job_placement.h"
#include "mapper/net/topology.h"
#include "mapper/program/program_text.h"

#define WINDOW 32
#define HOPS_MAX 16
#define TAGS_MAX 64 /* links that one message may use */
#define NONE UINT32_MAX

enum what { RANK, ARRIVAL, FREE };

struct event {
	double time;
	uint64_t order;
	enum what what;
	uint32_t id;
};

struct packet {
	uint32_t message, bytes, link[HOPS_MAX];
	uint32_t hops, at, next; /* next: unused one */
	double tag;
	uint64_t order;
};

/* All messages from one rank to another one: a connection. */
struct flow {
	uint32_t head, tail; /* messages that are not sent yet, or NONE */
	uint32_t flying;     /* packets under way */
	uint32_t paths;
	uint32_t tags, tag_link[TAGS_MAX];
	double tag[TAGS_MAX]; /* where the next packet begins in the link's virtual time */
};

struct message {
	uint32_t from, to; /* ranks */
	uint64_t key, unsent, missing, sent;
	uint32_t slot;	 /* of the receiver; NONE: it is not there yet */
	uint32_t next;	 /* unmatched message to the same rank */
	uint32_t behind; /* the next message of the flow */
	uint32_t flow;
};

struct link {
	uint32_t *heap, n, room; /* packets */
	uint32_t busy;		 /* the packet, or NONE */
	double now;		 /* virtual time */
};

struct slot {
	bool done;
	uint32_t from, next; /* next: unmatched receive of the same rank */
	uint64_t key;
};

struct rank {
	uint32_t at, blocked;
	bool computed;
	struct slot *slot;
	uint32_t messages, receives; /* unmatched, the oldest first */
};

static const struct net *net;
static struct program program;
static struct event *heap;
static size_t nheap, heap_room;
static uint64_t orders;
static struct packet *packets;
static uint32_t npackets, packets_room, packet_unused = NONE;
static struct message *messages;
static uint32_t nmessages, messages_room;
static struct link *links;
static struct rank *ranks;
static struct flow *flows;
static uint32_t nflows, flows_room;
static uint32_t *points, *flow_of; /* [ranks]; [ranks][ranks]: flows, or NONE */
static uint64_t packet_bytes;
static bool fair, single;
static double end;

static void die(const char *what)
{
	fprintf(stderr, "simulate_program: %s\n", what);
	exit(1);
}

static void *grow(void *memory, size_t n, size_t size)
{
	void *more = realloc(memory, n * size);

	if (!more)
		die("not enough memory");
	return more;
}

/* --- events --- */

static bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (!(b->time < a->time) && a->order < b->order);
}

static void event_push(double time, enum what what, uint32_t id)
{
	struct event e = {time, orders++, what, id};
	size_t at = nheap++;

	if (nheap > heap_room)
		heap = grow(heap, heap_room = 2 * nheap, sizeof(*heap));
	while (at && before(&e, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = e;
}

static struct event event_pop(void)
{
	struct event first = heap[0], last = heap[--nheap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < nheap) {
		child += child + 1 < nheap && before(&heap[child + 1], &heap[child]);
		if (!before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* --- the queue of a link --- */

static bool served_before(uint32_t a, uint32_t b)
{
	const struct packet *p = &packets[a], *q = &packets[b];

	return p->tag < q->tag || (!(q->tag < p->tag) && p->order < q->order);
}

static void queue_push(struct link *l, uint32_t packet)
{
	uint32_t at = l->n++;

	if (l->n > l->room)
		l->heap = grow(l->heap, l->room = 2 * l->n, sizeof(*l->heap));
	while (at && served_before(packet, l->heap[(at - 1) / 2])) {
		l->heap[at] = l->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	l->heap[at] = packet;
}

static uint32_t queue_pop(struct link *l)
{
	uint32_t first = l->heap[0], last = l->heap[--l->n], at = 0, child;

	while ((child = 2 * at + 1) < l->n) {
		child += child + 1 < l->n && served_before(l->heap[child + 1], l->heap[child]);
		if (!served_before(l->heap[child], last))
			break;
		l->heap[at] = l->heap[child];
		at = child;
	}
	l->heap[at] = last;
	return first;
}

/* The place of the flow's next packet in the link's virtual time. */
static double tag_take(struct flow *f, uint32_t link, uint32_t bytes)
{
	uint32_t i = 0;
	double begin;

	while (i < f->tags && f->tag_link[i] != link)
		i++;
	if (i == f->tags) {
		if (f->tags == TAGS_MAX)
			die("too many links of one flow");
		f->tag_link[f->tags++] = link;
		f->tag[i] = 0;
	}
	begin = f->tag[i] > links[link].now ? f->tag[i] : links[link].now;
	f->tag[i] = begin + (double)bytes * f->paths;
	return begin;
}

static void link_serve(uint32_t link, double now)
{
	struct link *l = &links[link];

	if (l->busy != NONE || !l->n)
		return;
	l->busy = queue_pop(l);
	l->now = packets[l->busy].tag;
	event_push(now + packets[l->busy].bytes / (double)net->capacity[link], FREE, link);
}

/* --- messages --- */

static void slot_done(uint32_t rank, uint32_t slot, double now)
{
	ranks[rank].slot[slot].done = true;
	if (ranks[rank].blocked == slot)
		event_push(now, RANK, rank);
}

static uint32_t packet_new(void)
{
	uint32_t id = packet_unused;

	if (id != NONE) {
		packet_unused = packets[id].next;
		return id;
	}
	if (npackets == packets_room)
		packets = grow(packets, packets_room = 2 * packets_room + 4096, sizeof(*packets));
	return npackets++;
}

static void packet_route(struct packet *p, struct message *m, uint32_t number)
{
	uint32_t s = points[m->from], d = points[m->to], link[NET_SLOTS_MAX];

	p->hops = p->at = 0;
	if (s == d)
		return;
	net->ops->direct(net, s, d,
		single ? net_single(net, s, d)
		       : rng_below((uint32_t)rng_at(1, RNG_TEST, number, m->sent), net->ops->direct_count(net, s, d)),
		link);
	for (uint32_t i = 0; i < net->direct_slots; i++)
		if (net->link_class[link[i]] != NET_NONE) {
			if (p->hops == HOPS_MAX)
				die("too many hops");
			p->link[p->hops++] = link[i];
		}
}

static void flow_send(uint32_t number, double now)
{
	struct flow *f = &flows[number];

	while (f->head != NONE && f->flying < WINDOW) {
		struct message *m = &messages[f->head];
		uint32_t id = packet_new();
		struct packet *p = &packets[id];

		p->message = f->head;
		p->bytes = (uint32_t)(m->unsent < packet_bytes ? m->unsent : packet_bytes);
		packet_route(p, m, f->head);
		m->sent++;
		m->unsent -= p->bytes;
		f->flying++;
		event_push(now, ARRIVAL, id);
		if (!m->unsent)
			f->head = m->behind;
	}
}

/* The packet is at its next link, or at its destination. */
static void packet_arrive(uint32_t id, double now)
{
	struct packet *p = &packets[id];
	struct message *m = &messages[p->message];
	uint32_t link;

	if (p->at < p->hops) {
		link = p->link[p->at++];
		p->order = orders++;
		p->tag = fair ? tag_take(&flows[m->flow], link, p->bytes) : 0;
		queue_push(&links[link], id);
		link_serve(link, now);
		return;
	}
	flows[m->flow].flying--;
	m->missing -= p->bytes;
	p->next = packet_unused;
	packet_unused = id;
	if (!m->missing && m->slot != NONE)
		slot_done(m->to, m->slot, now);
	flow_send(m->flow, now);
}

static void link_free(uint32_t link, double now)
{
	uint32_t id = links[link].busy;

	links[link].busy = NONE;
	link_serve(link, now);
	packet_arrive(id, now);
}

/* --- ranks --- */

static uint32_t flow_find(uint32_t from, uint32_t to)
{
	uint32_t *at = &flow_of[(size_t)from * program.ranks + to];

	if (*at != NONE)
		return *at;
	if (nflows == flows_room)
		flows = grow(flows, flows_room = 2 * flows_room + 1024, sizeof(*flows));
	memset(&flows[nflows], 0, sizeof(*flows));
	flows[nflows].head = NONE;
	flows[nflows].paths =
		single || points[from] == points[to] ? 1 : net->ops->direct_count(net, points[from], points[to]);
	return *at = nflows++;
}

static void send_begin(uint32_t from, const struct program_op *op, double now)
{
	struct rank *to = &ranks[op->peer];
	uint32_t number = nmessages++, *at = &to->receives;
	struct message *m;
	struct flow *f;

	if (number == messages_room)
		messages = grow(messages, messages_room = 2 * messages_room + 4096, sizeof(*messages));
	m = &messages[number];
	memset(m, 0, sizeof(*m));
	*m = (struct message){.from = from,
		.to = op->peer,
		.key = op->key,
		.unsent = op->bytes,
		.missing = op->bytes,
		.slot = NONE,
		.next = NONE,
		.behind = NONE,
		.flow = flow_find(from, op->peer)};
	while (*at != NONE && (to->slot[*at].from != from || to->slot[*at].key != op->key))
		at = &to->slot[*at].next;
	if (*at != NONE) {
		m->slot = *at;
		*at = to->slot[*at].next;
	} else {
		for (at = &to->messages; *at != NONE; at = &messages[*at].next)
			;
		*at = number;
	}
	if (!m->missing && m->slot != NONE)
		slot_done(m->to, m->slot, now);
	if (!m->missing)
		return;
	f = &flows[m->flow];
	if (f->head == NONE)
		f->head = number;
	else
		messages[f->tail].behind = number;
	f->tail = number;
	flow_send(m->flow, now);
}

static void receive_begin(uint32_t rank, const struct program_op *op, double now)
{
	struct rank *r = &ranks[rank];
	struct slot *s = &r->slot[op->slot];
	uint32_t *at = &r->messages;

	*s = (struct slot){false, op->peer, NONE, op->key};
	while (*at != NONE && (messages[*at].from != op->peer || messages[*at].key != op->key))
		at = &messages[*at].next;
	if (*at != NONE) {
		struct message *m = &messages[*at];

		*at = m->next;
		m->slot = op->slot;
		if (!m->missing)
			slot_done(rank, op->slot, now);
		return;
	}
	for (at = &r->receives; *at != NONE; at = &r->slot[*at].next)
		;
	*at = op->slot;
}

static void rank_run(uint32_t rank, double now)
{
	struct rank *r = &ranks[rank];
	const struct program_rank *list = &program.rank[rank];

	for (r->blocked = NONE; r->at < list->n; r->at++) {
		const struct program_op *op = &list->op[r->at];

		if (op->kind == PROGRAM_COMPUTE && !r->computed) {
			r->computed = true;
			event_push(now + op->seconds, RANK, rank);
			return;
		}
		r->computed = false;
		if (op->kind == PROGRAM_SEND) {
			r->slot[op->slot] = (struct slot){.done = true};
			send_begin(rank, op, now);
		} else if (op->kind == PROGRAM_RECV) {
			receive_begin(rank, op, now);
		} else if (op->kind == PROGRAM_WAIT && !r->slot[op->slot].done) {
			r->blocked = op->slot;
			return;
		} else if (op->kind == PROGRAM_PUT || op->kind == PROGRAM_GET) {
			die("the program has a put or a get, which are not simulated");
		}
	}
	end = now > end ? now : end;
}

/* --- all --- */

static void place(const char *placement)
{
	const struct job_placement *by = job_placement_find(placement);
	uint32_t *order = grow(NULL, net->nodes, sizeof(*order));

	if (!by || program.ranks > (uint64_t)net->nodes * net->cores)
		die("no such placement, or too many ranks");
	by->order(by, net, 1, order);
	points = grow(NULL, program.ranks, sizeof(*points));
	for (uint32_t i = 0; i < program.ranks; i++)
		points[i] = net->ops->point(net, order[i / net->cores]);
	free(order);
}

static void run(void)
{
	links = calloc(net->links, sizeof(*links));
	ranks = calloc(program.ranks, sizeof(*ranks));
	if (!links || !ranks)
		die("not enough memory");
	for (uint32_t l = 0; l < net->links; l++)
		links[l].busy = NONE;
	flow_of = grow(NULL, (size_t)program.ranks * program.ranks, sizeof(*flow_of));
	memset(flow_of, 0xff, (size_t)program.ranks * program.ranks * sizeof(*flow_of));
	for (uint32_t i = 0; i < program.ranks; i++) {
		ranks[i].slot = calloc(program.rank[i].slots + (size_t)1, sizeof(struct slot));
		if (!ranks[i].slot)
			die("not enough memory");
		ranks[i].blocked = ranks[i].messages = ranks[i].receives = NONE;
		event_push(0, RANK, i);
	}
	while (nheap) {
		struct event e = event_pop();

		if (e.what == RANK)
			rank_run(e.id, e.time);
		else if (e.what == ARRIVAL)
			packet_arrive(e.id, e.time);
		else
			link_free(e.id, e.time);
	}
}

int main(int argc, char **argv)
{
	struct zerr err = {""};
	struct net *made;

	if (argc != 7 || zargs_parse_u64(argv[4], &packet_bytes) || !packet_bytes)
		die("usage: simulate_program NETWORK PLACEMENT SD|DET PACKET_BYTES fair|fifo PROGRAM");
	if (strcmp(argv[3], "SD") != 0 && strcmp(argv[3], "DET") != 0)
		die("the routing is SD or DET");
	if (strcmp(argv[5], "fair") != 0 && strcmp(argv[5], "fifo") != 0)
		die("the queue is fair or fifo");
	single = !strcmp(argv[3], "DET");
	fair = !strcmp(argv[5], "fair");
	if (topology_create(argv[1], &made, &err) || program_text_read(&program, argv[6], NULL, NULL, &err))
		die(err.text);
	net = made;
	place(argv[2]);
	run();
	for (uint32_t i = 0; i < program.ranks; i++)
		if (ranks[i].at < program.rank[i].n)
			die("a rank waits for ever");
	printf("%.9g\n", end);
	for (uint32_t l = 0; l < net->links; l++)
		free(links[l].heap);
	for (uint32_t i = 0; i < program.ranks; i++)
		free(ranks[i].slot);
	free(links);
	free(ranks);
	free(points);
	free(flow_of);
	free(flows);
	free(heap);
	free(packets);
	free(messages);
	program_free(&program);
	net_destroy(made);
	return 0;
}
