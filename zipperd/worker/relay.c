/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What workers with the same first fabric hand to each other: rings, one for each ordered pair of them. Messages of
 * multicasts (multicast.c), and what a fan-out's reader and its receivers' workers say to each other (fanout.h).
 */
#include <errno.h>
#include <sys/eventfd.h>

#include "zipperd/worker/fanout.h"

#define RELAY_BUDGET 16 /* of one relay per round, as of a source */

/* Made only now, as most jobs have nothing for several parts, and there would be P^3 of them in one of P parts. */
struct relay *relay_to(struct lane *l, uint32_t part)
{
	if (!l->relay[part] && !(l->asked >> part & 1)) {
		l->asked |= UINT64_C(1) << part;
		worker_emit(l->worker, &(struct event){.kind = EVENT_RELAY, .lane = l, .part = part});
	}
	return l->relay[part];
}

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

/* --- what must not be waited for where it is to be said --- */

struct kept { /* in a buffer of worker.kept */
	struct relay *relay;
	struct relayed m;
};
_Static_assert(sizeof(struct kept) <= POOL_SMALL_BYTES, "they live in the smallest buffers");

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

/* --- turns --- */

/* 0 or -EAGAIN. What comes with it belongs to who takes it, but for a body. */
static int take(struct worker *w, struct relayed *m)
{
	switch (m->what) {
	case RELAYED_MESSAGE:
		return multicast_take_relayed(w, m);
	case RELAYED_OFFER:
		return fanned_take_offer(w, m);
	case RELAYED_PIECE:
		return fanned_take_piece(w, m);
	case RELAYED_DECLINE:
		fanned_take_decline(w, m);
		break;
	case RELAYED_READY:
	case RELAYED_LEFT:
		fanout_hear(w, &m->fan, m->what);
		break;
	}
	return 0;
}

static bool empty(struct worker *w, struct relay *r)
{
	struct relayed *m;
	bool moved = false;
	for (int i = 0; i < RELAY_BUDGET && (m = relay_ring_peek(&r->ring)); i++) {
		/* The lane was added before the other worker could know of us: but the command may have come since. */
		worker_run_commands(w);
		if (take(w, m) != 0)
			break;
		body_put(w, m->body);
		relay_ring_drop(&r->ring);
		moved = true;
	}
	if (moved && atomic_exchange(&r->full, false))
		eventfd_write(r->from->wake_fd, 1);
	return moved;
}

bool relay_turn(struct worker *w)
{
	body_collect(w);
	look_for_room(w);
	bool moved = push_kept(w);
	w->pool.last = true; /* of all jobs, one behind the other: as notes */
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		moved |= empty(w, r);
	w->pool.last = false;
	return moved;
}

bool relay_waits(struct worker *w)
{
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		if (relay_ring_peek(&r->ring))
			return true;
	return w->kept;
}

void relay_tell(struct worker *w)
{
	while (w->told) {
		struct relay *r = w->told;
		w->told = r->told_next;
		r->told = false;
		eventfd_write(r->to->wake_fd, 1);
	}
}

void relay_drain(struct worker *w)
{
	struct relayed *m;
	while (w->kept)
		drop_kept(w);
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		while ((m = relay_ring_peek(&r->ring))) {
			body_put(w, m->body);
			if (m->what == RELAYED_PIECE)
				fanout_put_piece(w, m->piece);
			relay_ring_drop(&r->ring);
		}
}
