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
 * Receivers in other parts than that of this channel belong to other workers with the same first fabric, or to this one
 * where these parts come by the same fabric. These get the message by a relay (relay.c), with the body. A body goes
 * back to the pool that it is from: whoever lets it go last puts it on that worker's list.
 *
 * A message that cannot be handed to all now is refused to the transport, as any other, and goes on with the next
 * receiver when it is shown again.
 */
#include <errno.h>
#include <string.h>

#include "zipperd/worker/fanout.h"

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
		if (r.dst >= l->nstations || l->place[r.dst].part == l->from ||
			!(l->carried >> l->place[r.dst].part & 1))
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

/* To the worker of another direction. 0 or -EAGAIN. */
static int hand_over(struct source *s, const struct zwire_env *env, const void *payload, bool shared)
{
	struct worker *w = s->lane->worker;
	struct relay *r = relay_to(s->lane, s->lane->place[env->dst].part);
	if (!r)
		return -EAGAIN;
	if (env->len > 0 && !s->body) {
		s->body = body_create(w, payload, env->len);
		if (!s->body)
			return -EAGAIN;
		stat_add(&s->lane->stats.copied_bytes, env->len);
	}
	struct relayed m = {.what = RELAYED_MESSAGE,
		.body = s->body,
		.job = s->lane->job,
		.len = env->len,
		.shared = shared};
	zwire_encode(m.env, env);
	if (m.body)
		body_hold(m.body);
	if (relay_push(w, r, &m))
		return 0;
	body_put(w, m.body);
	return -EAGAIN;
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

/* The receiver that is next in the list, as the message to it says. */
static struct zwire_env next_of(const struct source *s, const struct zwire_env *env)
{
	struct zwire_env one = *env;
	struct zwire_receiver r;
	zwire_get_receiver(&r, receiver_at(s, s->next_receiver));
	one.dst = r.dst;
	one.seq = env->kind == ZWIRE_DATA ? 0 : r.seq;
	one.ack = r.ack;
	one.xfer = r.xfer;
	return one;
}

/* An RTS with a key: each receiver is offered a part in one transfer. Where that cannot be they get plain ones. */
static int take_keyed(struct source *s, const struct zwire_env *env, const uint8_t *key)
{
	uint32_t n = receiver_count(s);
	if (s->next_receiver == 0 && !s->fanout)
		s->fanout = fanout_create(s, env, key, n);
	for (; s->next_receiver < n; s->next_receiver++) {
		struct zwire_env one = next_of(s, env);
		const char *what = admit_kind(s->lane, &one);
		if (what)
			return admit_breach(s, what);
		int rc;
		if (s->fanout) {
			rc = fanout_offer(s->fanout, s->next_receiver, &one);
		} else {
			one.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
			one.len = 0;
			rc = give(s, &one, NULL, false);
		}
		if (rc == -EAGAIN)
			s->no_room = true;
		if (rc != 0)
			return rc;
	}
	if (s->fanout)
		fanout_begin(s->fanout);
	s->fanout = NULL;
	s->next_receiver = 0;
	return 0;
}

int multicast_take(struct source *s, const struct zwire_env *env, const void *payload)
{
	static const char changed[] = "a message that changed while it was waiting"; /* over shm it is decoded again */
	bool keyed = env->kind == ZWIRE_RTS && env->flags & ZWIRE_F_ONE_SIDED;
	if (s->fanout && !keyed) /* which has room for the receivers of its list alone */
		return admit_breach(s, changed);
	if (env->kind == ZWIRE_RECEIVERS)
		return take_list(s, env, payload);
	if ((env->kind != ZWIRE_EAGER && env->kind != ZWIRE_RTS && env->kind != ZWIRE_DATA) || env->seq || env->ack ||
		(!keyed && (env->xfer || env->flags & ZWIRE_F_ONE_SIDED)))
		return admit_breach(s, "a message to nobody");
	if (!s->receivers)
		return admit_breach(s, "a message without the list of its receivers");
	if (s->body && s->body->len != env->len)
		return admit_breach(s, changed);
	if (keyed)
		return take_keyed(s, env, payload);
	for (uint32_t n = receiver_count(s); s->next_receiver < n; s->next_receiver++) {
		struct zwire_env one = next_of(s, env);
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

int multicast_take_relayed(struct worker *w, struct relayed *m)
{
	struct zwire_env env;
	struct lane *l = zwire_decode(&env, m->env) == 0 ? worker_lane(w, m->job, env.src, env.dst) : NULL;
	if (!l)
		return 0; /* the job is over */
	int rc = forward_one(l, &env, m->body ? m->body->payload : NULL, &m->body, m->shared);
	if (rc != -ENOBUFS)
		return rc;
	/* Its source is not ours to stall, and others must not wait for it. */
	if (!l->flooded)
		worker_emit(w, &(struct event){.kind = EVENT_BREACH,
				       .lane = l,
				       .station = env.src,
				       .breach = "more data than the receiver asked for"});
	l->flooded = true;
	return 0;
}
