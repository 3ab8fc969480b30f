/* SPDX-License-Identifier: BSD-3-Clause */
/* Destinations, their links and queues; see dest.h. */
#include "zipperd/lane/dest.h"

#include <errno.h>
#include <string.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/refusal.h"
#include "zipperd/lane/stream.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/tx.h"
#include "zipperd/lane/worker.h"

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

static void detach_tx(struct worker *w, struct dest *d)
{
	transfer_dest_gone(w, d);
	list_del(&d->touched);
	list_del(&d->blocked);
	tx_warm(w, d);
	d->tx->dest = NULL;
	d->tx = NULL;
	d->asked_open = true; /* of a lost link the control thread knows; of a rank that leaves nobody is asked */
}

void dest_lose_tx(struct worker *w, struct dest *d, int rc)
{
	struct channel *channel = d->tx->channel;
	detach_tx(w, d);
	ports_emit(w, &(struct event){.kind = EVENT_HALF_LOST, .channel = channel, .half = ZLINK_TX, .rc = rc});
}

/* --- queues --- */

/* A buffer that points to the body. The first call for a message makes the body. */
static struct buf *get_shared(struct worker *w, struct dest *d, const void *payload, uint32_t len, struct buf **body)
{
	if (!*body) {
		*body = body_create(w, payload, len);
		if (!*body)
			return NULL;
		lane_add(&d->lane->stats.copied_bytes, len);
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
		lane_add(&d->lane->stats.copied_bytes, len);
	}
	return b;
}

static void count(struct dest *d, uint64_t bytes)
{
	d->sequenced_bytes += bytes;
	share_add(&d->lane->memory, bytes);
}

static void discount(struct dest *d, uint64_t bytes)
{
	d->sequenced_bytes -= bytes;
	share_sub(&d->lane->memory, bytes);
}

/* Does the user's share of memory count it? Of a circuit it counts all messages, as zipperd does not know which of them
 * the sender repeats. */
static bool is_counted(const struct dest *d, const struct buf *b)
{
	return d->lane->circuit || rules_is_sequenced(kind_of(b));
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
	if (is_counted(d, b))
		count(d, ZWIRE_ENV_BYTES + (uint64_t)len);
	struct lane_stats *st = &d->lane->stats;
	lane_add(&st->queue_bytes, ZWIRE_ENV_BYTES + (uint64_t)len);
	if (d->queued_bytes > atomic_load_explicit(&st->queue_high_bytes, memory_order_relaxed))
		atomic_store_explicit(&st->queue_high_bytes, d->queued_bytes, memory_order_relaxed);
	return 0;
}

/* Takes the first message out of the queue, and gives its body back. */
static struct buf *unqueue(struct worker *w, struct dest *d)
{
	struct buf *b = d->head;
	uint64_t bytes = ZWIRE_ENV_BYTES + (uint64_t)b->len;
	d->head = b->next;
	if (!d->head)
		d->tail = &d->head;
	d->queued_bytes -= bytes;
	lane_add(&d->lane->stats.queue_bytes, -bytes);
	if (is_counted(d, b))
		discount(d, bytes);
	body_put(w, b->body);
	b->body = NULL;
	return b;
}

static void dequeue(struct worker *w, struct dest *d)
{
	if (__builtin_expect(w->samples.count > 0, 0))
		sample_posted(w, d->head);
	pool_put(&w->pool, unqueue(w, d));
	w->freed = true;
}

/* --- links --- */

/* A post or flush, even in vain, may make the link forget that it was armed: from now on it is not left to epoll. */
static void use_link(struct worker *w, struct dest *d)
{
	if (__builtin_expect(d->cold, 0))
		tx_warm(w, d);
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
	lane_add(&d->lane->stats.copied_bytes, z->ops->copied(z, ZLINK_TX) - before);
	return rc;
}

int dest_deliver(struct worker *w, struct dest *d, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
	uint32_t len, struct buf **body)
{
	if (d->tx && !d->head) {
		int rc = post(w, d, raw, payload, len);
		if (rc == 0) {
			touch(w, d);
			return 0;
		}
		if (rc != -EAGAIN)
			dest_lose_tx(w, d, rc);
		else
			block(w, d); /* even if enqueue fails: the link may hold something back, and no message would
					wait behind it */
	}
	int rc = enqueue(w, d, raw, payload, len, body);
	if (rc != 0)
		return rc;
	block(w, d);
	if (!d->tx && !d->asked_open) {
		d->asked_open = true;
		ports_emit(w, &(struct event){.kind = EVENT_OPEN, .lane = d->lane, .dest = d->index});
	}
	return 0;
}

int dest_send(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, env);
	return dest_deliver(w, d, raw, NULL, 0, NULL);
}

int dest_send_moved(struct worker *w, struct dest *d, uint32_t src, uint64_t receiver_xfer, uint64_t moved)
{
	const struct zwire_env env = {.kind = ZWIRE_MOVED,
		.src = src,
		.dst = d->lane->station_of[d->index],
		.xfer = receiver_xfer,
		.offset = moved};
	return d->gone ? 0 : dest_send(w, d, &env);
}

/* Posts the waiting messages. true: something moved. */
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
		dest_lose_tx(w, d, rc);
	if (moved && d->nrefused)
		refusal_resume(w, d);
	if (moved && d->lane->stream)
		stream_return(w, d->lane->stream);
	return moved;
}

bool dest_try_blocked(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	list_for_each(node, after, &w->blocked) {
		struct dest *d = list_entry(node, struct dest, blocked);
		if (drain(w, d)) {
			moved = true;
			d->tries = 0;
		} else if (list_linked(&d->blocked) && ++d->tries > BLOCKED_TRIES) {
			tx_cool(w, d);
		}
	}
	return moved;
}

void dest_flush_touched(struct worker *w)
{
	while (!list_empty(&w->touched)) {
		struct dest *d = list_entry(w->touched.next, struct dest, touched);
		list_del(&d->touched);
		int rc = flush(w, d);
		if (rc == -EAGAIN || (rc == 0 && d->head))
			block(w, d);
		else if (rc != 0)
			dest_lose_tx(w, d, rc);
	}
	if (__builtin_expect(w->samples.count > 0, 0))
		sample_flushed(w);
}

/* --- destinations come and go --- */

void dest_add_tx(struct worker *w, struct dest *d, struct tx *tx)
{
	tx->dest = d;
	d->tx = tx;
	if (d->head) {
		block(w, d);
		drain(w, d);
	}
}

void dest_drop_tx(struct worker *w, struct tx *tx)
{
	if (tx->dest)
		detach_tx(w, tx->dest);
}

void dest_bye(struct worker *w, struct dest *d)
{
	struct list *node, *after;
	d->gone = true;
	sample_forget(w, d);
	transfer_dest_gone(w, d);
	list_for_each(node, after, &d->refused)
		refusal_tell(w, list_entry(node, struct refusal, of_dest), REFUSAL_BYE_DUE);
	while (d->head) {
		struct buf *b = unqueue(w, d);
		refusal_take_waiting(w, d, &b);
		if (b)
			pool_put(&w->pool, b);
		w->freed = true;
	}
}

void dest_drop(struct worker *w, struct dest *d)
{
	list_del(&d->carrying);
	sample_forget(w, d);
	while (d->head)
		dequeue(w, d);
	while (!list_empty(&d->refused))
		refusal_del(&w->pool, list_entry(d->refused.next, struct refusal, of_dest));
}
