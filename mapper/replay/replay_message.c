/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from begin to end, see replay_message.h. */
#include "mapper/replay/replay_message.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct message *replay_message_new(struct replay *r, uint32_t from, uint32_t to, uint64_t bytes)
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

double replay_message_latency(const struct replay *r, struct message *m)
{
	transfers_measure(r->net_side, m);
	return m->from.node == m->to.node ? 0 : r->o->latency + r->o->hop * m->hops;
}

int replay_message_begin(struct replay *r, struct message *m, double now)
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

int replay_message_left(void *arg, struct message *m, double now)
{
	struct replay *r = arg;
	double seconds = replay_message_latency(r, m);
	int rc = line_move(r, m, now);

	if (!rc && m->begun && m->begun->op->kind == PROGRAM_SEND) {
		rc = replay_state_done(r, m->begun, now, m->why, 0);
		m->begun = NULL;
	}
	m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, seconds);
	m->stage = MESSAGE_LEFT;
	return rc ? rc : agenda_put(&r->agenda, &m->event, now + seconds);
}

int replay_message_arrive(struct replay *r, struct message *m, double now)
{
	struct replay_slot *to = m->begun ? m->begun : m->in; /* of a PUT or GET: where it was begun */
	int rc;

	m->stage = MESSAGE_HERE;
	if (!to)
		return 0;
	rc = replay_state_done(r, to, now, m->why, m->begun ? 0 : replay_state_overhead(r, m->bytes));
	message_free(r, m);
	return rc;
}

int replay_message_step(struct replay *r, struct message *m, double now)
{
	if (m->stage == MESSAGE_NEXT) {
		m->stage = MESSAGE_MOVES;
		return transfers_begin(r->net_side, m, now);
	}
	return m->stage == MESSAGE_GRANTED ? replay_message_begin(r, m, now) : replay_message_arrive(r, m, now);
}

int replay_message_grant(struct replay *r, struct message *m, double now, struct why *why)
{
	double seconds = replay_message_latency(r, m), asked = m->ready + seconds,
	       begin = (now > asked ? now : asked) + seconds;

	if (now > asked) {
		why_drop(&r->whys, m->why);
		m->why = why_add(&r->whys, why_hold(why), m->phase, WHY_LATENCY, 0, seconds);
	} else {
		m->why = why_add(&r->whys, m->why, m->phase, WHY_LATENCY, 0, 2 * seconds);
	}
	m->stage = MESSAGE_GRANTED;
	return agenda_put(&r->agenda, &m->event, begin);
}
