/* SPDX-License-Identifier: BSD-3-Clause */
/* The pushing end of relays, and answers that wait because a relay is full; see relay.h. */
#include "zipperd/lane/relay.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "zipperd/lane/worker.h"

/* Relays are made on demand: most jobs have no messages to several parts, and a job of P parts would need P^3 relays.
 */
struct relay *relay_to(struct lane *l, uint32_t part)
{
	if (!l->relay[part] && !(l->asked >> part & 1)) {
		l->asked |= UINT64_C(1) << part;
		ports_emit(l->worker, &(struct event){.kind = EVENT_RELAY, .lane = l, .part = part});
	}
	return l->relay[part];
}

/* The relay was full. Its reader is to tell when there is room; but it may have emptied the relay just now. */
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

/* Stalled sources can go on where a relay has room again. */
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

bool relay_push(struct worker *w, struct relay *r, const struct relayed *m)
{
	if (!relay_ring_push(&r->ring, m) && !push_again(w, r, m))
		return false;
	if (!r->told) {
		r->told = true;
		r->told_next = w->told;
		w->told = r;
	}
	return true;
}

/* --- answers that wait --- */

/* An answer, in a buffer of worker.kept. */
struct kept {
	struct relay *relay;
	struct relayed m;
};
_Static_assert(sizeof(struct kept) <= POOL_SMALL_BYTES, "kept answers live in the smallest buffers");

int relay_answer(struct worker *w, struct relay *r, const struct relayed *m)
{
	if (relay_push(w, r, m))
		return 0;
	struct buf *b = pool_get(&w->pool, sizeof(struct kept));
	if (!b)
		return -EAGAIN;
	*(struct kept *)(void *)b->payload = (struct kept){.relay = r, .m = *m};
	*(w->kept ? w->kept_tail : &w->kept) = b;
	w->kept_tail = &b->next;
	return 0;
}

static void drop_kept(struct worker *w)
{
	struct buf *b = w->kept;
	w->kept = b->next;
	pool_put(&w->pool, b);
	w->freed = true;
}

static bool push_kept(struct worker *w)
{
	bool moved = false;
	while (w->kept) {
		const struct kept *k = (const struct kept *)(const void *)w->kept->payload;
		if (!relay_push(w, k->relay, &k->m))
			break;
		drop_kept(w);
		moved = true;
	}
	return moved;
}

bool relay_catch_up(struct worker *w)
{
	look_for_room(w);
	return push_kept(w);
}

void relay_wake(struct worker *w)
{
	while (w->told) {
		struct relay *r = w->told;
		w->told = r->told_next;
		r->told = false;
		eventfd_write(r->to->wake_fd, 1);
	}
}

void relay_fini(struct worker *w)
{
	while (w->kept)
		drop_kept(w);
}
