/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to several ranks (wire.h, RECEIVERS): what the offload of a schedule to the network adapter is in the RDMC
 * paper (section 4.4), zipperd does here: a rank posts one message with the list of those who are to have it, and no
 * rank's processor has to relay it.
 *
 * Each receiver gets a message of its own, as if it had been sent to it alone, by the same rules (admit.c): queues,
 * shares, refusals and counters are per receiver, so that none of them waits for another. Those whose links have room
 * get it straight from the memory of the source's transport. For those that must wait the payload is copied once, into
 * a body, which their queues share by counting.
 *
 * Receivers in other parts than that of this channel belong to other workers with the same first fabric. These get the
 * message by a ring (struct relay), with the body. A body goes back to the pool that it is from: whoever lets it go
 * last puts it on that worker's list.
 *
 * A message that cannot be handed to all now is refused to the transport, as any other, and goes on with the next
 * receiver when it is shown again.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "worker.h"

#define RELAY_BUDGET 16 /* messages of one relay per round, as of a source */

/* --- bodies --- */

struct buf *body_create(struct worker *w, const void *payload, uint32_t len)
{
	struct buf *b = pool_get(&w->pool, len);
	if (!b)
		return NULL;
	memcpy(b->payload, payload, len);
	b->len = len;
	b->home = w;
	atomic_store_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void body_hold(struct buf *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void body_put(struct worker *w, struct buf *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (b->home == w) {
		pool_put(&w->pool, b);
		w->freed = true;
		return;
	}
	/* Taken all at once by its owner: so nothing can change behind the head that we compare with. */
	_Atomic(struct buf *) *head = &b->home->ports->returned;
	b->next = atomic_load_explicit(head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(head, &b->next, b, memory_order_release, memory_order_relaxed))
		;
}

void body_collect(struct worker *w)
{
	if (!atomic_load_explicit(&w->ports->returned, memory_order_relaxed))
		return;
	struct buf *b = atomic_exchange_explicit(&w->ports->returned, NULL, memory_order_acquire);
	while (b) {
		struct buf *next = b->next;
		pool_put(&w->pool, b);
		b = next;
	}
	w->freed = true;
}

/* --- lists --- */

static const uint8_t *receiver_at(const struct source *s, uint32_t i)
{
	return s->receivers->payload + (size_t)i * ZWIRE_RECEIVER_BYTES;
}

static uint32_t receiver_count(const struct source *s)
{
	return s->receivers->len / ZWIRE_RECEIVER_BYTES;
}

static const char *check_head(const struct zwire_env *env)
{
	if (env->flags || env->seq || env->ack || env->xfer)
		return "a list of receivers with more than that";
	if (env->len == 0 || env->len % ZWIRE_RECEIVER_BYTES != 0 ||
		env->len > ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES)
		return "a list of receivers of a wrong length";
	return NULL;
}

static const char *check_list(const struct source *s)
{
	const struct lane *l = s->lane;
	for (uint32_t i = 0; i < receiver_count(s); i++) {
		struct zwire_receiver r;
		if (zwire_get_receiver(&r, receiver_at(s, i)) != 0)
			return "a receiver that is not well formed";
		if (r.dst >= l->nranks || l->place[r.dst].part == l->from)
			return "a list with a receiver that no channel leads to";
	}
	return NULL;
}

/* The list that holds from now on. */
static int take_list(struct source *s, const struct zwire_env *env, const void *payload)
{
	struct worker *w = s->lane->worker;
	const char *what = check_head(env);
	if (what)
		return admit_breach(s, what);
	/* One size for all lists: the buffer stays with the source. */
	if (!s->receivers)
		s->receivers = pool_get(&w->pool, ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES);
	if (!s->receivers) {
		s->no_room = true;
		return -EAGAIN;
	}
	/* The copy is what is checked: the sender can still write to what it showed us. */
	memcpy(s->receivers->payload, payload, env->len);
	s->receivers->len = env->len;
	what = check_list(s);
	if (what)
		return admit_breach(s, what);
	stat_add(&s->lane->stats.envelopes, 1);
	return 0;
}

/* --- messages --- */

/* It was full: its reader is to say when it is not any more, but may have emptied it just now. */
static bool push_again(struct worker *w, struct relay *r, const struct relayed *m)
{
	atomic_exchange(&r->full, true);
	if (relay_ring_push(&r->ring, m))
		return true;
	if (!r->waits) {
		r->waits = true;
		r->full_next = w->full;
		w->full = r;
	}
	return false;
}

/* Sources that have stalled can go on where a relay has room again. */
static void look_for_room(struct worker *w)
{
	struct relay **at = &w->full;
	while (*at) {
		struct relay *r = *at;
		if (atomic_load_explicit(&r->full, memory_order_relaxed)) {
			at = &r->full_next;
			continue;
		}
		r->waits = false;
		*at = r->full_next;
		w->freed = true;
	}
}

/* To the worker of another direction. 0 or -EAGAIN. */
static int hand_over(struct source *s, const struct zwire_env *env, const void *payload, bool shared)
{
	struct worker *w = s->lane->worker;
	struct relay *r = s->lane->relay[s->lane->place[env->dst].part];
	if (!r)
		return -EAGAIN; /* its channel there is about to be attached */
	if (env->len > 0 && !s->body) {
		s->body = body_create(w, payload, env->len);
		if (!s->body)
			return -EAGAIN;
		stat_add(&s->lane->stats.copied_bytes, env->len);
	}
	struct relayed m = {.body = s->body, .job = s->lane->job, .len = env->len, .shared = shared};
	zwire_encode(m.env, env);
	if (m.body)
		body_hold(m.body);
	if (!relay_ring_push(&r->ring, &m) && !push_again(w, r, &m)) {
		body_put(w, m.body);
		return -EAGAIN;
	}
	if (!r->told) {
		r->told = true;
		r->told_next = w->told;
		w->told = r;
	}
	return 0;
}

static int give(struct source *s, const struct zwire_env *env, const void *payload, bool shared)
{
	struct lane *l = s->lane;
	const char *what = admit_kind(l, env);
	if (what)
		return admit_breach(s, what);
	if (l->place[env->dst].part == l->to)
		return forward_one(l, env, payload, &s->body, shared);
	return hand_over(s, env, payload, shared);
}

static void release(struct worker *w, struct source *s)
{
	body_put(w, s->body);
	s->body = NULL;
	s->next_receiver = 0;
}

int multicast_take(struct source *s, const struct zwire_env *env, const void *payload)
{
	if (env->kind == ZWIRE_RECEIVERS)
		return take_list(s, env, payload);
	if ((env->kind != ZWIRE_EAGER && env->kind != ZWIRE_RTS && env->kind != ZWIRE_DATA) || env->seq || env->ack ||
		env->xfer || env->flags & ZWIRE_F_ONE_SIDED)
		return admit_breach(s, "a message to nobody");
	if (!s->receivers)
		return admit_breach(s, "a message without the list of its receivers");
	if (s->body && s->body->len != env->len) /* over shm it is decoded again when it is shown again */
		return admit_breach(s, "a message that changed while it was waiting");
	for (uint32_t n = receiver_count(s); s->next_receiver < n; s->next_receiver++) {
		struct zwire_env one = *env;
		struct zwire_receiver r;
		zwire_get_receiver(&r, receiver_at(s, s->next_receiver));
		one.dst = r.dst;
		one.seq = env->kind == ZWIRE_DATA ? 0 : r.seq;
		one.ack = r.ack;
		one.xfer = r.xfer;
		int rc = give(s, &one, payload, s->next_receiver > 0);
		if (rc == -EAGAIN || rc == -ENOBUFS) {
			s->no_room = true;
			return -EAGAIN;
		}
		if (rc != 0)
			return rc;
	}
	release(s->lane->worker, s);
	return 0;
}

void multicast_source_gone(struct worker *w, struct source *s)
{
	release(w, s);
	if (s->receivers)
		pool_put(&w->pool, s->receivers);
	s->receivers = NULL;
}

/* --- relays --- */

/* 0 or -EAGAIN. */
static int take_relayed(struct worker *w, struct relayed *m)
{
	struct zwire_env env;
	struct lane *l = w->lanes;
	while (l && l->job != m->job)
		l = l->next;
	if (!l || zwire_decode(&env, m->env) != 0)
		return 0; /* the job is over */
	int rc = forward_one(l, &env, m->body ? m->body->payload : NULL, &m->body, m->shared);
	if (rc != -ENOBUFS)
		return rc;
	/* Its source is not ours to stall, and others must not wait for it. */
	if (!l->flooded)
		worker_emit(w, &(struct event){.kind = EVENT_BREACH,
				       .lane = l,
				       .vrank = env.src,
				       .breach = "more data than the receiver asked for"});
	l->flooded = true;
	return 0;
}

static bool empty(struct worker *w, struct relay *r)
{
	struct relayed *m;
	bool moved = false;
	for (int i = 0; i < RELAY_BUDGET && (m = relay_ring_peek(&r->ring)); i++) {
		/* The lane was added before the other worker could know of us: but the command may have come since. */
		worker_run_commands(w);
		if (take_relayed(w, m) != 0)
			break;
		body_put(w, m->body);
		relay_ring_drop(&r->ring);
		moved = true;
	}
	if (moved && atomic_exchange(&r->full, false))
		eventfd_write(r->from->wake_fd, 1);
	return moved;
}

bool multicast_turn(struct worker *w)
{
	bool moved = false;
	body_collect(w);
	look_for_room(w);
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		moved |= empty(w, r);
	return moved;
}

bool multicast_waits(struct worker *w)
{
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		if (relay_ring_peek(&r->ring))
			return true;
	return false;
}

void multicast_tell(struct worker *w)
{
	while (w->told) {
		struct relay *r = w->told;
		w->told = r->told_next;
		r->told = false;
		eventfd_write(r->to->wake_fd, 1);
	}
}

void multicast_drain(struct worker *w)
{
	struct relayed *m;
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		while ((m = relay_ring_peek(&r->ring))) {
			body_put(w, m->body);
			relay_ring_drop(&r->ring);
		}
}
