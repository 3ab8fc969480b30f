/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may pass through a worker: messages that keep to the protocol, while their destination has room.
 *
 * What happens where a destination does not take its messages: its queue grows to dest_share of sequenced messages;
 * from then on they are refused. The first refused message of a source is remembered (struct refusal) and told to it
 * (NAK); whatever follows it in that stream is dropped without a word, the source has it all. When the queue is down to
 * half its share, refused sources are told to go on (RESUME), RESUME_BATCH at a time. Other kinds are always queued:
 * they are few, or bounded by what receivers grant. Should memory run out all the same, the source stalls.
 */
#include <errno.h>

#include "zipperd/worker/worker.h"

#define RESUME_BATCH 2 /* each may send a window of 256 KiB, a quarter of the default share, at once */

/* --- refusals --- */

void admit_tell(struct worker *w, struct refusal *r, enum refusal_state due)
{
	struct dest *d = r->dest;
	bool was = r->state == REFUSAL_RESUMED || r->state == REFUSAL_RESUME_DUE;
	d->nresumed -= was;
	d->nresumed += due == REFUSAL_RESUME_DUE;
	r->state = due;
	if (!list_linked(&r->due))
		list_add(&w->due, &r->due);
}

/* Lets refused sources go on, if there is room. */
void admit_resume(struct worker *w, struct dest *d)
{
	struct list *node, *after;
	if (d->gone || d->sequenced_bytes >= d->lane->limits.dest_share / 2)
		return;
	list_for_each(node, after, &d->refused) {
		struct refusal *r = list_entry(node, struct refusal, of_dest);
		if (d->nresumed >= RESUME_BATCH)
			return;
		if (r->state == REFUSAL_HELD)
			admit_tell(w, r, REFUSAL_RESUME_DUE);
	}
}

/* spare: what it may live in where there is no memory for it. */
static int refuse(struct worker *w, struct dest *d, uint32_t src, uint64_t seq, enum refusal_state due,
	struct buf **spare)
{
	struct refusal *r = d->nrefused ? refusal_find(d->lane, src, d) : NULL;
	if (!r) {
		struct buf *b = pool_get(&w->pool, sizeof(struct refusal));
		if (!b) {
			b = *spare;
			*spare = NULL;
		}
		if (!b)
			return -EAGAIN;
		r = refusal_add(b, src, d, seq);
	}
	if (due == REFUSAL_NAK_DUE)
		stat_add(&d->lane->stats.naks, 1);
	admit_tell(w, r, due);
	return 0;
}

static int refuse_arrival(struct worker *w, struct dest *d, const struct zwire_env *env, enum refusal_state due)
{
	struct buf *none = NULL;
	int rc = refuse(w, d, env->src, env->seq, due, &none);
	return rc == 0 ? DROPPED : rc;
}

void admit_refuse_waiting(struct worker *w, struct dest *d, struct buf **b)
{
	struct zwire_env env;
	if (zwire_decode(&env, (*b)->env) == 0 && (admit_sequenced(env.kind) || env.kind == ZWIRE_RAILS))
		refuse(w, d, env.src, env.seq, REFUSAL_BYE_DUE, b);
}

/* For messages that are never refused: what a receiver grants, and as much again as a share for the small ones.
 * Ranks that keep to the protocol stay below; one that does not stalls, instead of taking all memory. */
static bool has_room_unsequenced(const struct dest *d, uint64_t bytes)
{
	const struct lane_limits *l = &d->lane->limits;
	return d->queued_bytes - d->sequenced_bytes + bytes <= l->rdv_window + l->dest_share;
}

static bool has_room(const struct dest *d, uint64_t bytes)
{
	return d->sequenced_bytes == 0 || d->sequenced_bytes + bytes <= d->lane->limits.dest_share;
}

/* A sequenced message: ADMITTED, DROPPED or -EAGAIN. */
static int admit(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	if (d->gone)
		return refuse_arrival(w, d, env, REFUSAL_BYE_DUE);
	bool room = has_room(d, ZWIRE_ENV_BYTES + (uint64_t)env->len);
	struct refusal *r = d->nrefused ? refusal_find(d->lane, env->src, d) : NULL;
	if (r && env->seq > r->seq)
		return DROPPED;
	if (r && env->seq == r->seq && room) {
		refusal_del(&w->pool, r);
		admit_resume(w, d);
		return ADMITTED;
	}
	if (room) /* in front of the refused one: had gone by another zipper, which was lost */
		return ADMITTED;
	if (r && env->seq < r->seq)
		r->seq = env->seq; /* and everything behind this one */
	return refuse_arrival(w, d, env, REFUSAL_NAK_DUE);
}

void admit_due(struct worker *w)
{
	static const uint8_t kind[] =
		{[REFUSAL_NAK_DUE] = ZWIRE_NAK, [REFUSAL_RESUME_DUE] = ZWIRE_RESUME, [REFUSAL_BYE_DUE] = ZWIRE_BYE};
	static const enum refusal_state next[] = {[REFUSAL_NAK_DUE] = REFUSAL_HELD,
		[REFUSAL_RESUME_DUE] = REFUSAL_RESUMED,
		[REFUSAL_BYE_DUE] = REFUSAL_BYE_SAID};
	while (!list_empty(&w->due)) {
		struct refusal *r = list_entry(w->due.next, struct refusal, due);
		struct lane *l = r->dest->lane;
		struct note note = {.seq = r->seq,
			.job = l->job,
			.dst = r->src,
			.kind = kind[r->state],
			.src = l->station_of[r->dest->index]};
		if (!note_ring_push(&w->opposite->ports->notes, &note))
			return; /* the next round tries again */
		w->told_opposite = true;
		list_del(&r->due);
		r->state = next[r->state];
		if (r->state == REFUSAL_HELD)
			admit_resume(w, r->dest); /* the queue may have drained meanwhile */
	}
}

int admit_message(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	if (admit_sequenced(env->kind) || (env->kind == ZWIRE_RAILS && d->gone))
		return admit(w, d, env);
	if (d->gone)
		return DROPPED; /* it waits for nothing any more */
	return has_room_unsequenced(d, ZWIRE_ENV_BYTES + (uint64_t)env->len) ? ADMITTED : -ENOBUFS;
}

/* --- what no rank sends --- */

int admit_breach(struct source *s, const char *what)
{
	s->breach = what;
	return -EPROTO;
}

const char *admit_kind(const struct lane *l, const struct zwire_env *env)
{
	static const char flag_text[] = "a flag where it does not belong";
	bool one_sided = env->flags & ZWIRE_F_ONE_SIDED;
	switch (env->kind) {
	case ZWIRE_EAGER:
		if (env->len > l->limits.eager_bytes)
			return "an eager message above eager_bytes";
		if (one_sided)
			return flag_text;
		return env->seq == 0 ? "an eager message without a sequence number" : NULL;
	case ZWIRE_RTS:
		if (env->len != (one_sided ? ZRMA_KEY_BYTES : 0))
			return "a request to send with a payload that is no key";
		return env->seq == 0 ? "a request to send without a sequence number" : NULL;
	case ZWIRE_DATA:
		if (one_sided)
			return flag_text;
		return env->len > l->limits.frag_bytes ? "a fragment above frag_bytes" : NULL;
	case ZWIRE_CTS:
		if (one_sided && env->len == ZRMA_KEY_BYTES)
			return NULL;
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_ACK:
	case ZWIRE_RAILS:
	case ZWIRE_ASK:
		if (one_sided)
			return flag_text;
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_DONE:
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_MOVED:
		if (env->flags == ZWIRE_F_RESTART)
			return env->len > 0 ? "a payload where none belongs" : NULL;
		return "word of a transfer that is zipperd's to give";
	default:
		return "a kind of message that ranks do not send";
	}
}

const char *admit_check(const struct source *s, const struct zwire_env *env)
{
	const struct lane *l = s->lane;
	if (env->src != s->station)
		return "a message in another's name";
	if (env->job != 0)
		return "a message with a job number";
	if (env->dst == ZWIRE_NOBODY)
		return NULL; /* multicast.c looks at the receivers */
	if (env->dst >= l->nstations || l->place[env->dst].part != l->to)
		return "a message to a rank that this channel does not lead to";
	return admit_kind(l, env);
}
