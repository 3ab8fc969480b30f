/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared payloads, see body.h. */
#include "zipperd/lane/body.h"

#include <string.h>

#include "zipperd/lane/worker.h"

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
	/* The owner takes the whole list at once, so nothing can change behind the head that is compared with. */
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
