/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a replay, and their messages from begin to end. See replay.h. */
#include "mapper/replay/replay.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An operation that has begun, until the wait. */
struct replay_slot {
	struct match_item item; /* first: a receive that waits for its message */
	const struct program_op *op;
	uint32_t rank;
	bool done;
	double seconds; /* that the rank needs for it when it is done */
	double time;	/* when it was done */
	struct why *why;
};

struct rank {
	struct agenda_item event; /* first */
	uint32_t at, phase;
	struct replay_slot *slot; /* [program_rank.slots] */
	struct replay_slot *blocked;
	bool paid, ended; /* paid: the rank's own time for the operation is over */
	double since;	  /* s: when it was blocked */
	double entered;	  /* s: when it entered the phase */
	struct why *why;
};

struct replay {
	const struct program *p;
	const struct net *net;
	const struct replay_place *place;
	const struct replay_opts *o;
	struct rank *rank;	  /* [ranks] */
	struct replay_slot *slot; /* of all ranks */
	double *in_phase;	  /* [ranks][phases], s */
	struct agenda agenda;
	struct why_store whys;
	struct match match, lines; /* lines: messages from one rank to another one, of which one moves at a time */
	struct transfers *net_side;
	struct message *messages, *unused;
	struct replay_result *result;
	uint32_t ended;
};

void replay_defaults(struct replay_opts *o)
{
	*o = (struct replay_opts){.routing = routing_table_find("SD"),
		.latency = 1e-6,
		.overhead = 5e-7,
		.eager = 32768,
		.local_bandwidth = 1e10,
		.compute = 1,
		.tolerance = 0.01};
	model_defaults(&o->model);
}

/* --- slots --- */

static int slot_done(struct replay *r, struct replay_slot *s, double now, struct why *why, double seconds)
{
	struct rank *rank = &r->rank[s->rank];

	s->done = true;
	s->time = now;
	s->seconds = seconds;
	s->why = why_hold(why);
	return rank->blocked == s ? agenda_put(&r->agenda, &rank->event, now) : 0;
}

static double overhead(const struct replay *r, uint64_t bytes)
{
	return r->o->overhead + r->o->per_byte * (double)bytes;
}

/* --- messages --- */

static struct message *message_new(struct replay *r, uint32_t from, uint32_t to, uint64_t bytes)
{
	struct message *m = r->unused;

	if (m)
		r->unused = m->next;
	else if (!(m = malloc(sizeof(*m))))
		return NULL;
	*m = (struct message){.event = {.kind = AGENDA_MESSAGE},
		.from = r->place[from],
		.to = r->place[to],
		.from_rank = from,
		.to_rank = to,
		.bytes = bytes,
		.next = r->messages};
	if (m->next)
		m->next->prev = m;
	r->messages = m;
	r->result->messages++;
	r->result->bytes += bytes;
	r->result->local_messages += m->from.node == m->to.node;
	return m;
}

static void message_free(struct replay *r, struct message *m)
{
	why_drop(&r->whys, m->why);
	if (m->next)
		m->next->prev = m->prev;
	if (m->prev)
		m->prev->next = m->next;
	else
		r->messages = m->next;
	m->next = r->unused;
	r->unused = m;
}

/* Of a message, and of the request for one. */
static double latency(const struct replay *r, struct message *m)
{
	transfers_measure(r->net_side, m);
	return m->from.node == m->to.node ? 0 : r->o->latency + r->o->hop * m->hops;
}

static int message_begin(struct replay *r, struct message *m, double now)
{
	struct match_key key = {m->from_rank, m->to_rank, 0};
	bool failed;

	m->stage = MESSAGE_MOVES;
	if (match_line(&r->lines, &key, &m->line, &failed))
		return transfers_begin(r->net_side, m, now);
	return failed ? -ENOMEM : 0;
}

/* The next message between the same ranks begins to move: it has waited for m. */
static int line_move(struct replay *r, const struct message *m, double now)
{
	struct match_key key = {m->from_rank, m->to_rank, 0};
	struct match_item *item = match_line_next(&r->lines, &key);
	struct message *next = item ? (struct message *)((char *)item - offsetof(struct message, line)) : NULL;

	if (!next)
		return 0;
	why_drop(&r->whys, next->why);
	next->why = why_hold(m->why);
	next->stage = MESSAGE_NEXT;
	return agenda_put(&r->agenda, &next->event, now);
}

/* Called when it has left the network. */
static int message_left(void *arg, struct message *m, double now)
{
	struct replay *r = arg;
	double seconds = latency(r, m);
	int rc = line_move(r, m, now);

	if (!rc && m->begun && m->begun->op->kind == PROGRAM_SEND) {
		rc = slot_done(r, m->begun, now, m->why, 0);
		m->begun = NULL;
	}
	m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, seconds);
	m->stage = MESSAGE_LEFT;
	return rc ? rc : agenda_put(&r->agenda, &m->event, now + seconds);
}

static int message_arrive(struct replay *r, struct message *m, double now)
{
	struct replay_slot *to = m->begun ? m->begun : m->in; /* of a PUT or GET: where it was begun */
	int rc;

	m->stage = MESSAGE_HERE;
	if (!to)
		return 0;
	rc = slot_done(r, to, now, m->why, m->begun ? 0 : overhead(r, m->bytes));
	message_free(r, m);
	return rc;
}

static int message_step(struct replay *r, struct message *m, double now)
{
	if (m->stage == MESSAGE_NEXT) {
		m->stage = MESSAGE_MOVES;
		return transfers_begin(r->net_side, m, now);
	}
	return m->stage == MESSAGE_GRANTED ? message_begin(r, m, now) : message_arrive(r, m, now);
}

/* The receiver of a long message was ready at `now`, or before. why: the receiver's. */
static int message_grant(struct replay *r, struct message *m, double now, struct why *why)
{
	double seconds = latency(r, m), asked = m->ready + seconds, begin = (now > asked ? now : asked) + seconds;

	if (now > asked) {
		why_drop(&r->whys, m->why);
		m->why = why_add(&r->whys, why_hold(why), m->phase, WHY_LATENCY, 0, seconds);
	} else {
		m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, 2 * seconds);
	}
	m->stage = MESSAGE_GRANTED;
	return agenda_put(&r->agenda, &m->event, begin);
}

/* --- operations --- */

static int send_begin(struct replay *r, struct rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	struct match_key key = {slot->rank, op->peer, op->key};
	struct message *m = message_new(r, slot->rank, op->peer, op->bytes);
	bool failed = false, is_long = op->bytes > r->o->eager;
	int rc;

	if (!m)
		return -ENOMEM;
	m->phase = rank->phase;
	m->why = why_hold(rank->why);
	m->ready = now;
	m->begun = is_long ? slot : NULL;
	m->in = (struct replay_slot *)match_meet(&r->match, &key, true, &m->item, &failed);
	if (failed)
		return -ENOMEM;
	if (is_long)
		return m->in ? message_grant(r, m, now, NULL) : 0;
	rc = slot_done(r, slot, now, rank->why, 0);
	return rc ? rc : message_begin(r, m, now);
}

static int receive_begin(struct replay *r, struct rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	struct match_key key = {op->peer, slot->rank, op->key};
	struct message *m;
	bool failed = false;
	int rc = 0;

	if (op->peer == PROGRAM_NONE)
		return slot_done(r, slot, now, rank->why, 0);
	m = (struct message *)match_meet(&r->match, &key, false, &slot->item, &failed);
	if (!m)
		return failed ? -ENOMEM : 0;
	m->in = slot;
	if (m->stage == MESSAGE_HERE)
		rc = message_arrive(r, m, now);
	else if (m->stage == MESSAGE_SENT && m->bytes > r->o->eager)
		rc = message_grant(r, m, now, rank->why);
	return rc;
}

/* PUT and GET: the other rank does nothing. */
static int onesided_begin(struct replay *r, struct rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	bool get = op->kind == PROGRAM_GET;
	struct message *m = message_new(r, get ? op->peer : slot->rank, get ? slot->rank : op->peer, op->bytes);

	if (!m)
		return -ENOMEM;
	m->phase = rank->phase;
	m->begun = slot;
	m->why = why_hold(rank->why);
	if (!get)
		return message_begin(r, m, now);
	m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, latency(r, m));
	m->stage = MESSAGE_GRANTED;
	return agenda_put(&r->agenda, &m->event, now + latency(r, m));
}

static int op_begin(struct replay *r, struct rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];

	*slot = (struct replay_slot){.op = op, .rank = (uint32_t)(rank - r->rank)};
	if (op->kind == PROGRAM_SEND)
		return send_begin(r, rank, op, now);
	return op->kind == PROGRAM_RECV ? receive_begin(r, rank, op, now) : onesided_begin(r, rank, op, now);
}

/* --- ranks --- */

/* The rank itself needs a time. Returns whether it is over. */
static bool rank_pays(struct replay *r, struct rank *rank, enum why_cause cause, double seconds, double now, int *rc)
{
	if (rank->paid || !(seconds > 0)) {
		rank->paid = false;
		return true;
	}
	rank->paid = true;
	rank->why = why_add(&r->whys, rank->why, rank->phase, cause, (uint32_t)(rank - r->rank), seconds);
	*rc = agenda_put(&r->agenda, &rank->event, now + seconds);
	return false;
}

static void phase_leave(struct replay *r, struct rank *rank, double now)
{
	r->in_phase[(size_t)(rank - r->rank) * r->p->phases.n + rank->phase] += now - rank->entered;
	rank->entered = now;
}

/* Returns whether the wait is over. */
static bool rank_waits(struct replay *r, struct rank *rank, struct replay_slot *s, double now, int *rc)
{
	if (!s->done) {
		rank->blocked = s;
		rank->since = now;
		return false;
	}
	if (rank->blocked == s && s->time > rank->since) {
		why_drop(&r->whys, rank->why);
		rank->why = why_hold(s->why);
	}
	rank->blocked = NULL;
	if (!rank_pays(r, rank, WHY_OVERHEAD, s->seconds, now, rc))
		return false;
	why_drop(&r->whys, s->why);
	s->why = NULL;
	return true;
}

/* Does one operation. Returns whether the rank goes on at once. */
static bool op_do(struct replay *r, struct rank *rank, const struct program_op *op, double now, int *rc)
{
	switch (op->kind) {
	case PROGRAM_COMPUTE:
		return rank_pays(r, rank, WHY_COMPUTE, op->seconds * r->o->compute, now, rc);
	case PROGRAM_PHASE:
		phase_leave(r, rank, now);
		rank->phase = op->peer;
		return true;
	case PROGRAM_WAIT:
		return rank_waits(r, rank, &rank->slot[op->slot], now, rc);
	case PROGRAM_SEND:
		if (!rank_pays(r, rank, WHY_OVERHEAD, overhead(r, op->bytes), now, rc))
			return false;
		break;
	case PROGRAM_PUT:
	case PROGRAM_GET:
		if (!rank_pays(r, rank, WHY_OVERHEAD, r->o->overhead, now, rc))
			return false;
		break;
	default:
		break;
	}
	*rc = op_begin(r, rank, op, now);
	return !*rc;
}

static int rank_run(struct replay *r, struct rank *rank, double now)
{
	const struct program_rank *list = &r->p->rank[rank - r->rank];
	int rc = 0;

	while (rank->at < list->n && op_do(r, rank, &list->op[rank->at], now, &rc))
		rank->at++;
	if (rc || rank->at < list->n)
		return rc;
	phase_leave(r, rank, now);
	rank->ended = true;
	r->ended++;
	if (r->ended == 1 || now > r->result->seconds) {
		r->result->seconds = now;
		r->result->last = (uint32_t)(rank - r->rank);
	}
	return 0;
}

/* --- all --- */

static int event_do(struct replay *r, struct agenda_item *event, double now)
{
	agenda_drop(&r->agenda, event);
	switch (event->kind) {
	case AGENDA_RANK:
		return rank_run(r, (struct rank *)event, now);
	case AGENDA_MESSAGE:
		return message_step(r, (struct message *)((char *)event - offsetof(struct message, event)), now);
	default:
		return transfers_end(r->net_side, event, now);
	}
}

/* Does it happen now, or nearly? */
static bool is_due(const struct replay *r, const struct agenda_item *event, double now)
{
	if (!(event->time > now))
		return true;
	/* a part that has no rate yet never ends */
	return event->kind == AGENDA_POOL && event->time < (double)INFINITY &&
	       event->time - now <= r->o->tolerance * (event->time - transfers_since(event));
}

static int events_do(struct replay *r)
{
	struct agenda_item *event;
	int rc = 0;

	for (uint32_t i = 0; i < r->p->ranks && !rc; i++)
		rc = agenda_put(&r->agenda, &r->rank[i].event, 0);
	while (!rc && (event = agenda_first(&r->agenda))) {
		double now = event->time;

		while (!rc && (event = agenda_first(&r->agenda)) && is_due(r, event, now))
			rc = event_do(r, event, now);
		/* what happens before rates are due again, they are found for together */
		if (!rc && (!event || event->time > transfers_due(r->net_side)))
			rc = transfers_settle(r->net_side, now);
	}
	return r->whys.failed ? -ENOMEM : rc;
}

/* A rank that others wait for: from the first one that waits, along whom it waits for, either to one that waits for a
 * rank that has ended, or round a circle. Of a circle, a rank that sends, or else the first one. */
static uint32_t deadlock_find(const struct replay *r)
{
	uint32_t i = 0, peer, found;

	while (r->rank[i].ended)
		i++;
	for (uint32_t step = 0; step < r->p->ranks; step++) {
		peer = r->rank[i].blocked->op->peer;
		if (r->rank[peer].ended)
			return i;
		i = peer;
	}
	found = i;
	for (uint32_t at = r->rank[i].blocked->op->peer; at != i; at = r->rank[at].blocked->op->peer) {
		bool sends = r->rank[at].blocked->op->kind == PROGRAM_SEND;
		bool sent = r->rank[found].blocked->op->kind == PROGRAM_SEND;

		if (sends > sent || (sends == sent && at < found))
			found = at;
	}
	return found;
}

/* Says which rank waits for ever, and for what. */
static int deadlock_tell(const struct replay *r, struct zerr *err)
{
	const struct program *p = r->p;
	uint32_t i = deadlock_find(r);
	const struct program_op *op = r->rank[i].blocked->op;
	char line[32] = "";

	if (p->rank[i].op[r->rank[i].at].line)
		snprintf(line, sizeof(line), "%u:", p->rank[i].op[r->rank[i].at].line);
	return zerr_set(err, -EDEADLK, "%s:%s rank %u waits for ever for %s rank %u%s%s", p->where, line, i,
		op->kind == PROGRAM_RECV ? "a message from" : "a receive of its message by", op->peer,
		op->kind == PROGRAM_RECV ? "" : ", as the message is longer than --eager",
		p->ranks - r->ended > 1 ? ", and others wait, too" : "");
}

static int replay_create(struct replay *r)
{
	size_t ranks = r->p->ranks, slots = 0;
	uint32_t nodes = 0;

	for (size_t i = 0; i < ranks; i++) {
		slots += r->p->rank[i].slots;
		nodes = r->place[i].node >= nodes ? r->place[i].node + 1 : nodes;
	}
	r->rank = calloc(ranks, sizeof(*r->rank));
	r->slot = calloc(slots + 1, sizeof(*r->slot));
	r->in_phase = calloc(ranks * r->p->phases.n, sizeof(*r->in_phase));
	if (!r->rank || !r->slot || !r->in_phase)
		return -ENOMEM;
	for (size_t i = 0, at = 0; i < ranks; at += r->p->rank[i++].slots)
		r->rank[i].slot = r->slot + at; /* its event is zeroed: AGENDA_RANK */
	return transfers_create(&r->net_side, r->net, nodes, r->o, &r->agenda, &r->whys, message_left, r);
}

static void replay_destroy(struct replay *r)
{
	for (int i = 0; i < 2; i++)
		for (struct message *m = i ? r->unused : r->messages, *next; m; m = next) {
			next = m->next;
			free(m);
		}
	transfers_destroy(r->net_side);
	match_free(&r->match);
	match_free(&r->lines);
	agenda_free(&r->agenda);
	why_free(&r->whys);
	free(r->in_phase);
	free(r->slot);
	free(r->rank);
}

int replay_run(const struct program *p, const struct net *net, const struct replay_place *place,
	const struct replay_opts *o, struct replay_result *result, struct zerr *err)
{
	struct replay r = {.p = p, .net = net, .place = place, .o = o, .result = result};
	int rc;

	*result = (struct replay_result){0};
	rc = replay_create(&r);
	if (!rc)
		rc = events_do(&r);
	if (!rc && r.ended < p->ranks)
		rc = deadlock_tell(&r, err);
	for (const struct message *m = r.messages; m && !rc; m = m->next)
		result->unreceived++;
	if (!rc)
		rc = replay_result_make(result, r.rank[result->last].why, r.in_phase, p->ranks, p->phases.n);
	if (rc)
		replay_result_free(result);
	replay_destroy(&r);
	return rc == -ENOMEM ? zerr_set(err, rc, "not enough memory for the replay") : rc;
}
