/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a replay, and their operations. See replay.h. */
#include "mapper/replay/replay.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/replay/replay_message.h"
#include "mapper/replay/replay_state.h"

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

/* --- operations --- */

static int send_begin(struct replay *r, struct replay_rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	struct match_key key = {slot->rank, op->peer, op->key};
	struct message *m = replay_message_new(r, slot->rank, op->peer, op->bytes);
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
		return m->in ? replay_message_grant(r, m, now, NULL) : 0;
	rc = replay_state_done(r, slot, now, rank->why, 0);
	return rc ? rc : replay_message_begin(r, m, now);
}

static int receive_begin(struct replay *r, struct replay_rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	struct match_key key = {op->peer, slot->rank, op->key};
	struct message *m;
	bool failed = false;
	int rc = 0;

	if (op->peer == PROGRAM_NONE)
		return replay_state_done(r, slot, now, rank->why, 0);
	m = (struct message *)match_meet(&r->match, &key, false, &slot->item, &failed);
	if (!m)
		return failed ? -ENOMEM : 0;
	m->in = slot;
	if (m->stage == MESSAGE_HERE)
		rc = replay_message_arrive(r, m, now);
	else if (m->stage == MESSAGE_SENT && m->bytes > r->o->eager)
		rc = replay_message_grant(r, m, now, rank->why);
	return rc;
}

/* PUT and GET: the other rank does nothing. */
static int onesided_begin(struct replay *r, struct replay_rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];
	bool get = op->kind == PROGRAM_GET;
	struct message *m = replay_message_new(r, get ? op->peer : slot->rank, get ? slot->rank : op->peer, op->bytes);

	if (!m)
		return -ENOMEM;
	m->phase = rank->phase;
	m->begun = slot;
	m->why = why_hold(rank->why);
	if (!get)
		return replay_message_begin(r, m, now);
	m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, replay_message_latency(r, m));
	m->stage = MESSAGE_GRANTED;
	return agenda_put(&r->agenda, &m->event, now + replay_message_latency(r, m));
}

static int op_begin(struct replay *r, struct replay_rank *rank, const struct program_op *op, double now)
{
	struct replay_slot *slot = &rank->slot[op->slot];

	*slot = (struct replay_slot){.op = op, .rank = (uint32_t)(rank - r->rank)};
	if (op->kind == PROGRAM_SEND)
		return send_begin(r, rank, op, now);
	return op->kind == PROGRAM_RECV ? receive_begin(r, rank, op, now) : onesided_begin(r, rank, op, now);
}

/* --- ranks --- */

/* The rank itself needs a time. Returns whether it is over. */
static bool rank_pays(struct replay *r, struct replay_rank *rank, enum why_cause cause, double seconds, double now,
	int *rc)
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

static void phase_leave(struct replay *r, struct replay_rank *rank, double now)
{
	r->in_phase[(size_t)(rank - r->rank) * r->p->phases.n + rank->phase] += now - rank->entered;
	rank->entered = now;
}

/* Returns whether the wait is over. */
static bool rank_waits(struct replay *r, struct replay_rank *rank, struct replay_slot *s, double now, int *rc)
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
static bool op_do(struct replay *r, struct replay_rank *rank, const struct program_op *op, double now, int *rc)
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
		if (!rank_pays(r, rank, WHY_OVERHEAD, replay_state_overhead(r, op->bytes), now, rc))
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

static int rank_run(struct replay *r, struct replay_rank *rank, double now)
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
		return rank_run(r, (struct replay_rank *)event, now);
	case AGENDA_MESSAGE:
		return replay_message_step(r, (struct message *)((char *)event - offsetof(struct message, event)), now);
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
	return transfers_create(&r->net_side, r->net, nodes, r->o, &r->agenda, &r->whys, replay_message_left, r);
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
