/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving messages in a worker: from the memory of the source's transport straight to the destination's link, or into
 * the destination's queue while that is full. No lock, no allocation (but for new slabs), no log. What may pass at all
 * is decided in admit.c.
 */
#include <errno.h>
#include <string.h>

#include "zipperd/worker/transfer.h"

#define BLOCKED_TRIES 16 /* rounds in vain until a full link is left to epoll */

static uint8_t kind_of(const struct buf *b)
{
	return b->env[1]; /* offset of kind in wire.h */
}

static void touch(struct worker *w, struct dest *d)
{
	if (!list_linked(&d->touched))
		list_add(&w->touched, &d->touched);
}

static void block(struct worker *w, struct dest *d)
{
	if (d->tx && !d->cold && !list_linked(&d->blocked)) {
		d->tries = 0;
		list_add(&w->blocked, &d->blocked);
	}
}

/* The link is broken. Messages wait for the control thread to say whether the rank has left (BYE) or died. */
void forward_lose_tx(struct worker *w, struct dest *d, int rc)
{
	struct tx *tx = d->tx;
	transfer_dest_gone(w, d);
	list_del(&d->touched);
	list_del(&d->blocked);
	worker_warm_tx(w, d);
	d->tx = NULL;
	d->asked_open = true;
	tx->dest = NULL;
	worker_emit(w, &(struct event){.kind = EVENT_HALF_LOST, .channel = tx->channel, .half = ZLINK_TX, .rc = rc});
}

/* --- queues --- */

/* A buffer that refers to a body, which is made now if it must be. */
static struct buf *get_shared(struct worker *w, struct dest *d, const void *payload, uint32_t len, struct buf **body)
{
	if (!*body) {
		*body = body_create(w, payload, len);
		if (!*body)
			return NULL;
		stat_add(&d->lane->stats.copied_bytes, len);
	}
	struct buf *b = pool_get(&w->pool, 0);
	if (!b)
		return NULL;
	b->body = *body;
	body_hold(b->body);
	return b;
}

static struct buf *get_copy(struct worker *w, struct dest *d, const void *payload, uint32_t len)
{
	struct buf *b = pool_get(&w->pool, len);
	if (b && len > 0) {
		memcpy(b->payload, payload, len);
		stat_add(&d->lane->stats.copied_bytes, len);
	}
	return b;
}

static int enqueue(struct worker *w, struct dest *d, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
	uint32_t len, struct buf **body)
{
	struct buf *b = body && len > 0 ? get_shared(w, d, payload, len, body) : get_copy(w, d, payload, len);
	if (!b)
		return -EAGAIN;
	memcpy(b->env, raw, ZWIRE_ENV_BYTES);
	b->len = len;
	*d->tail = b;
	d->tail = &b->next;
	d->queued_bytes += ZWIRE_ENV_BYTES + (uint64_t)len;
	if (admit_sequenced(kind_of(b)))
		d->sequenced_bytes += ZWIRE_ENV_BYTES + (uint64_t)len;
	struct lane_stats *st = &d->lane->stats;
	if (d->queued_bytes > atomic_load_explicit(&st->queue_high_bytes, memory_order_relaxed))
		atomic_store_explicit(&st->queue_high_bytes, d->queued_bytes, memory_order_relaxed);
	return 0;
}

/* The first one, without the body that it may have had. */
static struct buf *unqueue(struct worker *w, struct dest *d)
{
	struct buf *b = d->head;
	uint64_t bytes = ZWIRE_ENV_BYTES + (uint64_t)b->len;
	d->head = b->next;
	if (!d->head)
		d->tail = &d->head;
	d->queued_bytes -= bytes;
	if (admit_sequenced(kind_of(b)))
		d->sequenced_bytes -= bytes;
	body_put(w, b->body);
	b->body = NULL;
	return b;
}

static void dequeue(struct worker *w, struct dest *d)
{
	pool_put(&w->pool, unqueue(w, d));
	w->freed = true;
}

/* A link that is posted to or flushed may forget by that, also in vain, that it was armed: it is not left to epoll any
 * more. */
static void use_link(struct worker *w, struct dest *d)
{
	if (__builtin_expect(d->cold, 0))
		worker_warm_tx(w, d);
}

static int flush(struct worker *w, struct dest *d)
{
	use_link(w, d);
	return d->tx->zlink->ops->flush(d->tx->zlink);
}

static int post(struct worker *w, struct dest *d, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, uint32_t len)
{
	struct zlink *z = d->tx->zlink;
	use_link(w, d);
	if (!z->ops->copied)
		return z->ops->post(z, raw, payload, len);
	const uint64_t before = z->ops->copied(z, ZLINK_TX);
	int rc = z->ops->post(z, raw, payload, len);
	stat_add(&d->lane->stats.copied_bytes, z->ops->copied(z, ZLINK_TX) - before);
	return rc;
}

/* To the link, or into the queue. body: of a multicast, see forward_one; or NULL. 0 or -EAGAIN: no memory, nothing
 * happened. */
static int deliver(struct worker *w, struct dest *d, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
	uint32_t len, struct buf **body)
{
	if (d->tx && !d->head) {
		int rc = post(w, d, raw, payload, len);
		if (rc == 0) {
			touch(w, d);
			return 0;
		}
		if (rc != -EAGAIN)
			forward_lose_tx(w, d, rc);
		else
			block(w, d); /* in any case: the link may hold something back that nothing else waits behind */
	}
	int rc = enqueue(w, d, raw, payload, len, body);
	if (rc != 0)
		return rc;
	block(w, d);
	if (!d->tx && !d->asked_open) {
		d->asked_open = true;
		worker_emit(w, &(struct event){.kind = EVENT_OPEN, .lane = d->lane, .dest = d->index});
	}
	return 0;
}

int forward_envelope(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, env);
	return deliver(w, d, raw, NULL, 0, NULL);
}

/* Posts what waits. true: something moved. */
static bool drain(struct worker *w, struct dest *d)
{
	bool moved = false;
	int rc = 0;
	while (rc == 0 && d->head) {
		const struct buf *b = d->head;
		rc = post(w, d, b->env, b->body ? b->body->payload : b->payload, b->len);
		if (rc == 0) {
			dequeue(w, d);
			moved = true;
		}
	}
	if (rc == 0)
		rc = flush(w, d);
	if (rc == 0)
		list_del(&d->blocked);
	else if (rc != -EAGAIN)
		forward_lose_tx(w, d, rc);
	if (moved && d->nrefused)
		admit_resume(w, d);
	return moved;
}

bool forward_blocked(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	list_for_each(node, after, &w->blocked) {
		struct dest *d = list_entry(node, struct dest, blocked);
		if (drain(w, d)) {
			moved = true;
			d->tries = 0;
		} else if (list_linked(&d->blocked) && ++d->tries > BLOCKED_TRIES) {
			worker_cool_tx(w, d);
		}
	}
	return moved;
}

void forward_flush(struct worker *w)
{
	while (!list_empty(&w->touched)) {
		struct dest *d = list_entry(w->touched.next, struct dest, touched);
		list_del(&d->touched);
		int rc = flush(w, d);
		if (rc == -EAGAIN || (rc == 0 && d->head))
			block(w, d);
		else if (rc != 0)
			forward_lose_tx(w, d, rc);
	}
}

/* --- messages --- */

/* RTS with a key: forwarded without it. */
static int take_offer(struct source *s, struct dest *d, const struct zwire_env *env, const uint8_t *key)
{
	struct zwire_env plain = *env;
	plain.len = 0;
	if (!transfer_offer(s, d, env, key))
		plain.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
	return forward_envelope(s->lane->worker, d, &plain);
}

/* The answer to one: the transfer belongs to the opposite worker. A key goes no further. */
static int take_answer(struct source *s, struct dest *d, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const uint8_t *key)
{
	struct worker *w = s->lane->worker;
	struct note note = {.what = env->len ? NOTE_GO : NOTE_WITHDRAW,
		.job = s->lane->job,
		.src = env->src,
		.dst = env->dst,
		.ack = env->ack,
		.xfer = env->xfer,
		.peer_xfer = env->comm,
		.total = env->offset};
	if (env->len)
		memcpy(note.key, key, sizeof(note.key));
	if (!note_ring_push(&w->opposite->ports->notes, &note))
		return -EAGAIN;
	w->told_opposite = true;
	return env->len ? 0 : deliver(w, d, raw, NULL, 0, NULL);
}

void forward_count(struct lane *l, const struct zwire_env *env)
{
	stat_add(&l->stats.envelopes, 1);
	if (admit_sequenced(env->kind))
		stat_add(&l->stats.msgs, 1);
	if (env->len > 0 && !(env->flags & ZWIRE_F_ONE_SIDED))
		stat_add(&l->stats.bytes, env->len);
}

/* Then circuits leave what there is to jobs, whose senders others may wait behind. */
static bool is_scarce(const struct worker *w)
{
	const struct budget *b = w->pool.budget;
	return atomic_load_explicit(&b->used, memory_order_relaxed) > b->limit / 2;
}

/* Of a circuit: what the link has no room for waits here, up to a destination's share, and the source beyond that. */
static int pass(struct source *s, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct lane *l = s->lane;
	struct dest *d = &l->dest[0];
	if (!d->tx)
		return 0; /* the other end is gone, and the circuit goes */
	if (d->queued_bytes >= l->limits.dest_share || (d->head && is_scarce(l->worker)) ||
		deliver(l->worker, d, raw, payload, env->len, NULL) != 0) {
		s->no_room = true;
		return -EAGAIN;
	}
	stat_add(&l->stats.envelopes, 1);
	stat_add(&l->stats.msgs, env->len > 0);
	stat_add(&l->stats.bytes, env->len);
	return 0;
}

int forward_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct source *s = ctx;
	struct lane *l = s->lane;
	struct worker *w = l->worker;
	if (__builtin_expect(l->circuit, 0))
		return pass(s, env, raw, payload);
	if (env->kind == ZWIRE_BYE) {
		if (env->len > 0)
			return admit_breach(s, "a BYE with a payload");
		worker_emit(w, &(struct event){.kind = EVENT_BYE, .channel = s->channel});
		return 0;
	}
	const char *what = admit_check(s, env);
	if (what)
		return admit_breach(s, what);
	if (env->dst == ZWIRE_NOBODY)
		return multicast_take(s, env, payload);
	uint32_t index = l->place[env->dst].dest;
	dest_touch(l, index);
	struct dest *d = &l->dest[index];
	int rc = admit_message(w, d, env);
	if (rc == DROPPED)
		return 0;
	if (rc == ADMITTED && !(env->flags & ZWIRE_F_ONE_SIDED))
		rc = deliver(w, d, raw, payload, env->len, NULL);
	else if (rc == ADMITTED)
		rc = admit_sequenced(env->kind) ? take_offer(s, d, env, payload) : take_answer(s, d, env, raw, payload);
	if (rc != 0) {
		s->no_room = true;
		return -EAGAIN;
	}
	forward_count(l, env);
	return 0;
}

int forward_one(struct lane *l, const struct zwire_env *env, const void *payload, struct buf **body, bool shared)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	uint32_t index = l->place[env->dst].dest;
	dest_touch(l, index);
	int rc = admit_message(l->worker, &l->dest[index], env);
	if (rc == DROPPED)
		return 0;
	zwire_encode(raw, env);
	if (rc == ADMITTED)
		rc = deliver(l->worker, &l->dest[index], raw, payload, env->len, body);
	if (rc != 0)
		return rc;
	forward_count(l, env);
	if (shared && env->len > 0)
		stat_add(&l->stats.shared_bytes, env->len);
	return 0;
}

static int take_note(struct worker *w, const struct note *note)
{
	/* An answer says of a transfer the other way where it shall go. */
	const bool send = note->what == NOTE_SEND;
	const uint32_t from = send ? note->src : note->dst, to = send ? note->dst : note->src;
	struct lane *l = worker_lane(w, note->job, from, to);
	if (!l)
		return 0; /* the job is over */
	uint32_t index = l->place[to].dest;
	dest_touch(l, index);
	struct dest *d = &l->dest[index];
	const struct zwire_env env = {.kind = note->kind,
		.src = note->src,
		.dst = note->dst,
		.seq = note->seq,
		.ack = note->ack,
		.xfer = note->xfer};
	switch (note->what) {
	case NOTE_SEND:
		return d->gone ? 0 : forward_envelope(w, d, &env);
	case NOTE_GO:
		return transfer_go(w, d, note);
	case NOTE_WITHDRAW:
		return transfer_withdraw(w, d, note);
	}
	return 0;
}

/* All other notes wait behind it, of whatever job: it must not want for memory that those who do not read have taken.
 */
int forward_note(struct worker *w, const struct note *note)
{
	w->pool.last = true;
	int rc = take_note(w, note);
	w->pool.last = false;
	return rc;
}

/* --- destinations come and go --- */

void forward_add_tx(struct worker *w, struct lane *l, uint32_t dest, struct tx *tx)
{
	dest_touch(l, dest);
	struct dest *d = &l->dest[dest];
	tx->dest = d;
	d->tx = tx;
	if (d->head) {
		block(w, d);
		drain(w, d);
	}
}

void forward_drop_tx(struct worker *w, struct tx *tx)
{
	struct dest *d = tx->dest;
	if (!d)
		return;
	transfer_dest_gone(w, d);
	list_del(&d->touched);
	list_del(&d->blocked);
	worker_warm_tx(w, d);
	d->tx = NULL;
	d->asked_open = true; /* its rank is leaving: nobody to ask */
	tx->dest = NULL;
}

void forward_dest_bye(struct worker *w, struct lane *l, uint32_t dest)
{
	dest_touch(l, dest);
	struct dest *d = &l->dest[dest];
	struct list *node, *after;
	d->gone = true;
	transfer_dest_gone(w, d);
	list_for_each(node, after, &d->refused)
		admit_tell(w, list_entry(node, struct refusal, of_dest), REFUSAL_BYE_DUE);
	while (d->head) {
		struct buf *b = unqueue(w, d);
		admit_refuse_waiting(w, d, &b);
		if (b)
			pool_put(&w->pool, b);
		w->freed = true;
	}
}

void forward_drop_lane(struct worker *w, struct lane *l)
{
	transfer_drop_lane(w, l);
	for (uint32_t i = 0; i < l->ndests; i++) {
		struct dest *d = &l->dest[i];
		if (!d->ready)
			continue;
		list_del(&d->carrying);
		while (d->head)
			dequeue(w, d);
		while (!list_empty(&d->refused))
			refusal_del(&w->pool, list_entry(d->refused.next, struct refusal, of_dest));
	}
	struct lane **at = &w->lanes;
	while (*at && *at != l)
		at = &(*at)->next;
	if (*at) /* those of circuits are not there */
		*at = l->next;
}
