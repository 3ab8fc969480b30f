/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random messages between the members of a communicator, of which every rank knows who sends what to whom.
 *
 * Between two ranks, receives are posted in the order of the sends, so that each receive gets its own message, whatever
 * tag it asks for. A receive from any rank asks for a tag that no other message has. The one exception are the messages
 * to a hub, which takes them in any order: their checksums are added.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topics.h"
#include "trace.h"
#include "types.h"

#define MOST_MESSAGES 40
#define HUB_UNITS 27	   /* that a receive of a hub has room for */
#define SHARED_TAGS 3	   /* tags that messages of all operations have in common */
#define UNIQUE_TAG 1000	   /* tags from here on belong to one message each */
#define BUFFERED_MOST 4096 /* bytes of a message in buffered mode: see random_program.c */

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY };
enum way { POSTED, IN_TURN, HUB, HUB_ANY_TAG };
static const char *const ways[] = {"posted", "in turn", "hub", "hub, any tag"};

struct message {
	int side; /* of the sender, where the communicator has two */
	int from, to, tag;
	bool any_source, any_tag;
	enum mode mode;
	bool blocking, large; /* the send; large: a count of type MPI_Count */
	int units, spare;     /* the receive has room for so many units more */
	struct unit unit;
};
struct messages {
	const struct model_comm *comm;
	enum way way;
	int n, hub, hub_side;
	bool ready; /* some are sent in ready mode */
	uint64_t seed;
	struct message list[MOST_MESSAGES];
};

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int send_call_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int isend_call_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static send_call *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static send_call_c *const sends_c[] = {MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c};
static isend_call *const isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static isend_call_c *const isends_c[] = {MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c, MPI_Irsend_c};

static int most_bytes(struct draw *d)
{
	int kind = draw_below(d, 100);
	return kind < 70 ? 64 : kind < 92 ? 2000 : kind < 98 ? 30000 : 200000;
}

static void draw_message(struct messages *m, struct message *g, int tag, struct draw *d)
{
	const struct model_comm *c = m->comm;
	g->side = c->inter ? draw_below(d, 2) : 0;
	g->from = draw_below(d, c->side[g->side].n);
	g->to = draw_below(d, c->side[c->inter ? !g->side : 0].n);
	g->unit = types_unit(d, most_bytes(d));
	g->units = draw_chance(d, 8) ? 0 : draw_between(d, 1, draw_chance(d, 20) ? 24 : 4);
	g->spare = draw_chance(d, 30) ? draw_between(d, 1, 3) : 0;
	types_unit_limit(&g->unit, g->units + g->spare);
	g->mode = draw_below(d, 4);
	if (g->mode == READY && m->way != POSTED)
		g->mode = STANDARD;
	m->ready |= g->mode == READY;
	g->blocking = draw_chance(d, 50);
	g->large = draw_chance(d, 25);
	g->any_source = draw_chance(d, 30);
	g->tag = g->any_source || draw_chance(d, 50) ? tag : draw_below(d, SHARED_TAGS);
	g->any_tag = !g->any_source && draw_chance(d, 25);
}

/* All messages to one rank, from anybody, of one unit. */
static void draw_hub(struct messages *m, int tag, struct draw *d)
{
	const struct model_comm *c = m->comm;
	struct unit unit = types_unit(d, most_bytes(d));
	int side = c->inter ? draw_below(d, 2) : 0;
	m->hub_side = c->inter ? !side : 0;
	m->hub = draw_below(d, c->side[m->hub_side].n);
	m->n = 0;
	types_unit_limit(&unit, HUB_UNITS);
	for (int i = 0; i < c->side[side].n; i++)
		for (int k = draw_between(d, 1, 3); k > 0; k--) {
			struct message *g = &m->list[m->n];
			if (!c->inter && i == m->hub)
				continue;
			draw_message(m, g, tag, d);
			g->side = side;
			g->from = i;
			g->to = m->hub;
			g->unit = unit;
			g->tag = m->way == HUB ? tag : draw_below(d, SHARED_TAGS);
			g->any_source = true;
			g->any_tag = m->way == HUB_ANY_TAG;
			m->n += m->n < MOST_MESSAGES - 1;
		}
}

static void draw_messages(struct messages *m, const struct model_comm *c, uint64_t seed, int tag)
{
	struct draw d = draw_from(seed, 1);
	memset(m, 0, sizeof *m);
	m->comm = c;
	m->seed = seed;
	m->way = draw_chance(&d, 50) ? POSTED : draw_between(&d, IN_TURN, HUB_ANY_TAG);
	if (m->way >= HUB) {
		draw_hub(m, tag, &d);
		return;
	}
	m->n = draw_between(&d, 1, draw_chance(&d, 20) ? MOST_MESSAGES - 1 : 10);
	for (int i = 0; i < m->n; i++)
		draw_message(m, &m->list[i], tag + i, &d);
}

/* --- what is done when a message has come, or is gone */
struct traveller {
	struct buffer buffer;
	MPI_Datatype type; /* of receives */
	bool loose;	   /* its place among others is not determined */
	bool plain;	   /* made from one predefined type, none of pairs */
	uint64_t before;   /* of sends */
};

static void sent(void *context, MPI_Status *status)
{
	struct traveller *t = context;
	(void)status;
	if (t->before != buffer_hash(&t->buffer))
		trace_problem("a send changed its buffer");
	buffer_free(&t->buffer);
	free(t);
}

static void came(void *context, MPI_Status *status)
{
	struct traveller *t = context;
	int count, elements = -1, cancelled;
	TRY(MPI_Get_count(status, t->type, &count));
	if (t->plain) /* MPICH 4.0.2 divides by 0 for some others */
		TRY(MPI_Get_elements(status, t->type, &elements));
	TRY(MPI_Test_cancelled(status, &cancelled));
	if (t->loose) {
		uint64_t all[] = {status->MPI_SOURCE, status->MPI_TAG, count, elements, buffer_hash(&t->buffer)};
		trace_loose(trace_hash(all, sizeof all, 0), "came");
	} else {
		trace_number(status->MPI_SOURCE, "from");
		trace_number(status->MPI_TAG, "tag");
		trace_number(count, "count");
		trace_number(elements, "elements");
		trace_number(cancelled, "cancelled");
		buffer_trace(&t->buffer, "data");
	}
	types_free(&t->type);
	buffer_free(&t->buffer);
	free(t);
}

/* --- one message */
static enum mode mode_of(const struct message *g)
{
	bool fits = types_unit_size(&g->unit) * g->units <= BUFFERED_MOST;
	return g->mode == BUFFERED && !fits ? STANDARD : g->mode;
}

static void send_one(const struct messages *m, int index, bool blocking, struct waiting *w)
{
	const struct message *g = &m->list[index];
	struct draw d = draw_from(m->seed, 1000 + index);
	struct traveller *t = calloc(1, sizeof *t);
	MPI_Comm comm = m->comm->handle;
	enum mode mode = mode_of(g);
	MPI_Request r;
	int count;
	MPI_Datatype type = types_pieces(&d, &g->unit, g->units, &count);
	t->buffer = buffer_for(type, count, draw_next(&d));
	t->before = buffer_hash(&t->buffer);
	if (blocking && g->large)
		TRY(sends_c[mode](t->buffer.at, count, type, g->to, g->tag, comm));
	else if (blocking)
		TRY(sends[mode](t->buffer.at, count, type, g->to, g->tag, comm));
	else if (g->large)
		TRY(isends_c[mode](t->buffer.at, count, type, g->to, g->tag, comm, &r));
	else
		TRY(isends[mode](t->buffer.at, count, type, g->to, g->tag, comm, &r));
	types_free(&type);
	if (blocking)
		sent(t, NULL);
	else
		waiting_add(w, r, sent, t);
}

/* The place where message number index is received. Those to a hub have places of one kind. */
static struct traveller *place(const struct messages *m, int index, int *count)
{
	const struct message *g = &m->list[index];
	bool hub = m->way >= HUB;
	struct draw d = draw_from(m->seed, hub ? 2000 : 3000 + index);
	struct traveller *t = calloc(1, sizeof *t);
	t->type = types_pieces(&d, &g->unit, hub ? HUB_UNITS : g->units + g->spare, count);
	t->buffer = buffer_for(t->type, *count, draw_next(&d));
	t->loose = hub;
	t->plain = types_is_plain(&g->unit);
	return t;
}

static void receive_posted(const struct messages *m, int index, struct waiting *w)
{
	const struct message *g = &m->list[index];
	int count, source = g->any_source ? MPI_ANY_SOURCE : g->from;
	int tag = g->any_tag ? MPI_ANY_TAG : g->tag;
	struct traveller *t = place(m, index, &count);
	MPI_Request r;
	if (g->large)
		TRY(MPI_Irecv_c(t->buffer.at, count, t->type, source, tag, m->comm->handle, &r));
	else
		TRY(MPI_Irecv(t->buffer.at, count, t->type, source, tag, m->comm->handle, &r));
	waiting_add(w, r, came, t);
}

static void receive_matched(MPI_Message *message, struct traveller *t, int count, int how, MPI_Status *status)
{
	MPI_Request r;
	switch (how % 4) {
	case 0:
		TRY(MPI_Mrecv(t->buffer.at, count, t->type, message, status));
		return;
	case 1:
		TRY(MPI_Mrecv_c(t->buffer.at, count, t->type, message, status));
		return;
	case 2:
		TRY(MPI_Imrecv(t->buffer.at, count, t->type, message, &r));
		break;
	default:
		TRY(MPI_Imrecv_c(t->buffer.at, count, t->type, message, &r));
	}
	TRY(MPI_Wait(&r, status));
}

/* Receives one message at once: by a receive, or after a probe. */
static void receive_now(const struct messages *m, int index)
{
	const struct message *g = &m->list[index];
	struct draw d = draw_from(m->seed, 4000 + index);
	int count, flag = 0, how = draw_below(&d, 4), source = g->any_source ? MPI_ANY_SOURCE : g->from;
	int tag = g->any_tag ? MPI_ANY_TAG : g->tag;
	struct traveller *t = place(m, index, &count);
	MPI_Comm comm = m->comm->handle;
	MPI_Message message;
	MPI_Status s;
	switch (draw_below(&d, 6)) {
	case 0:
		TRY(MPI_Probe(source, tag, comm, &s));
		TRY(MPI_Recv(t->buffer.at, count, t->type, s.MPI_SOURCE, s.MPI_TAG, comm, &s));
		break;
	case 1:
		while (!flag)
			TRY(MPI_Iprobe(source, tag, comm, &flag, &s));
		TRY(MPI_Recv(t->buffer.at, count, t->type, s.MPI_SOURCE, s.MPI_TAG, comm, &s));
		break;
	case 2:
		TRY(MPI_Mprobe(source, tag, comm, &message, &s));
		receive_matched(&message, t, count, how, &s);
		break;
	case 3:
		while (!flag)
			TRY(MPI_Improbe(source, tag, comm, &flag, &message, &s));
		receive_matched(&message, t, count, how, &s);
		break;
	case 4:
		TRY(MPI_Recv_c(t->buffer.at, count, t->type, source, tag, comm, &s));
		break;
	default:
		TRY(MPI_Recv(t->buffer.at, count, t->type, source, tag, comm, &s));
	}
	came(t, &s);
}

static bool is_mine(const struct messages *m, int side, int rank)
{
	return m->comm->side[side].at[rank] == model.me;
}

static bool is_to_me(const struct messages *m, int index)
{
	const struct message *g = &m->list[index];
	return is_mine(m, m->comm->inter ? !g->side : 0, g->to);
}

static bool is_from_me(const struct messages *m, int index)
{
	return is_mine(m, m->list[index].side, m->list[index].from);
}

/* Every receiver has posted all receives before it sends, so no send waits for ever. */
static void run_posted(const struct messages *m, struct waiting *w)
{
	for (int i = 0; i < m->n; i++)
		if (is_to_me(m, i))
			receive_posted(m, i, w);
	if (m->ready)
		TRY(MPI_Barrier(m->comm->handle));
	for (int i = 0; i < m->n; i++)
		if (is_from_me(m, i))
			send_one(m, i, m->list[i].blocking, w);
}

/* All ranks go through one list, so the first message that is not yet through has both its ranks there. */
static void run_in_turn(const struct messages *m, struct waiting *w)
{
	for (int i = 0; i < m->n; i++) {
		if (is_from_me(m, i))
			send_one(m, i, m->list[i].blocking && !is_to_me(m, i), w);
		if (is_to_me(m, i))
			receive_now(m, i);
	}
}

static void run_hub(const struct messages *m, struct waiting *w)
{
	struct draw d = draw_from(m->seed, 3);
	bool posted = draw_chance(&d, 50);
	for (int i = 0; i < m->n; i++) {
		if (is_from_me(m, i))
			send_one(m, i, m->list[i].blocking, w);
		if (is_to_me(m, i) && posted)
			receive_posted(m, i, w);
		else if (is_to_me(m, i))
			receive_now(m, i);
	}
	if (m->way == HUB_ANY_TAG) {
		/* a message of the next operation must not come instead of one of these */
		waiting_complete(w, m->seed ^ (uint64_t)model.me);
		TRY(MPI_Barrier(m->comm->handle));
	}
}

void messages_run(const struct model_comm *c, uint64_t seed, int tag, struct waiting *pending)
{
	struct waiting w = {0};
	struct messages m;
	draw_messages(&m, c, seed, tag);
	if (m.way == POSTED)
		run_posted(&m, &w);
	else if (m.way == IN_TURN)
		run_in_turn(&m, &w);
	else
		run_hub(&m, &w);
	if (pending)
		waiting_move(pending, &w);
	waiting_complete(&w, seed ^ (uint64_t)model.me);
}

static bool draw_op(struct op *op, struct draw *d)
{
	struct messages m;
	char name[80];
	op->comm = model_pick(d, NULL);
	op->pending = draw_chance(d, 35);
	draw_messages(&m, &model.comm[op->comm], op->seed, UNIQUE_TAG + op->number * MOST_MESSAGES);
	snprintf(op->text, sizeof op->text, "%d messages on %s, %s%s", m.n, model_name(op->comm, name), ways[m.way],
		op->pending ? ", left pending" : "");
	return true;
}

static void run_op(struct op *op)
{
	messages_run(&model.comm[op->comm], op->seed, UNIQUE_TAG + op->number * MOST_MESSAGES,
		op->pending ? &op->waiting : NULL);
}

const struct topic topic_messages = {.name = "messages", .weight = 25, .draw = draw_op, .run = run_op};
