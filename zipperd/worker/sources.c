/* SPDX-License-Identifier: BSD-3-Clause */
/* A turn over the sources of a worker. */
#include "zipperd/worker/sources.h"

#include <errno.h>

#include "zipperd/lane/worker.h"
#include "zipperd/worker/forward.h"
#include "zipperd/worker/streams.h"

#define POLL_BUDGET 16 /* messages of one source per turn: 2 MiB of fragments */
#define IDLE_POLLS 32  /* busy turns without a message until a source is left to epoll */

/* The number of messages, or 1 if the source was lost. 0: nothing happened. */
static inline __attribute__((always_inline)) int poll_source(struct worker *w, struct source *s, unsigned budget)
{
	const struct zsink sink = {.take = s->trunk ? streams_take : forward_take, .ctx = s};
	const struct ztransport *ops = s->zlink->ops;
	const uint64_t before = ops->copied ? ops->copied(s->zlink, ZLINK_RX) : 0;
	int rc = ops->poll(s->zlink, &sink, budget);
	if (ops->copied)
		lane_add(&s->lane->stats.copied_bytes, ops->copied(s->zlink, ZLINK_RX) - before);
	if (s->no_room) {
		s->no_room = false;
		lane_add(&s->lane->stats.stalls, 1);
		half_move_source(s, &w->stalled, SOURCE_STALLED);
		half_watch_source(w, s, false);
		return rc > 0 ? rc : 0;
	}
	if (rc < 0 && rc != -EAGAIN) {
		half_lose_source(w, s, rc);
		return 1;
	}
	if (rc > 0)
		s->idle = 0;
	else
		s->idle++;
	return rc > 0 ? rc : 0;
}

static void heat_stalled(struct worker *w)
{
	struct list *node, *after;
	w->freed = false;
	list_for_each(node, after, &w->stalled) {
		struct source *s = list_entry(node, struct source, link);
		half_move_source(s, &w->hot, SOURCE_HOT);
		half_watch_source(w, s, true);
	}
}

static inline uint64_t bytes_of(const struct lane *l)
{
	return atomic_load_explicit(&l->stats.bytes, memory_order_relaxed);
}

/* Enough for a turn: what has been posted is to be flushed, and others may have something. */
static inline bool is_enough(const struct worker *w)
{
	return w->unlooked >= SOURCES_TURN_BYTES;
}

/* The next turn begins with the source `first`, or the first one as before if that is the head. */
static void begin_with(struct worker *w, struct list *first)
{
	if (first == &w->hot)
		return;
	list_del(&w->hot);
	list_add(first, &w->hot);
}

/* All sources are one lane's. */
static bool poll_lane(struct worker *w)
{
	struct list *node, *after;
	struct lane *l = list_entry(w->hot.next, struct source, link)->lane;
	bool moved = false;
	deficit_renew(&l->deficit, w->round); /* alone, it has no debt */
	list_for_each(node, after, &w->hot) {
		const uint64_t before = bytes_of(l);
		moved |= poll_source(w, list_entry(node, struct source, link), POLL_BUDGET) > 0;
		w->unlooked += bytes_of(l) - before;
		if (__builtin_expect(is_enough(w), 0)) {
			begin_with(w, after);
			break;
		}
	}
	return moved;
}

/* A round takes several turns where a lane may take much, or its links give one message at a time. It is over when no
 * lane that may take something has something. A lane's sources take turns: one that was polled goes behind the others.
 */
static __attribute__((noinline)) bool poll_lanes(struct worker *w)
{
	struct list *node = w->hot.next, *after;
	bool moved = false, closed = false;
	for (uint32_t n = w->hot_sources; n > 0 && node != &w->hot && !is_enough(w); n--, node = after) {
		struct source *s = list_entry(node, struct source, link);
		struct lane *l = s->lane;
		after = node->next;
		if (!deficit_open(&l->deficit, w->round)) {
			closed = true;
			continue;
		}
		uint64_t bytes = bytes_of(l);
		int messages = poll_source(w, s, deficit_messages(&l->deficit, POLL_BUDGET));
		if (messages > 0) {
			bytes = bytes_of(l) - bytes;
			deficit_charge(&l->deficit, (unsigned)messages, bytes);
			w->unlooked += bytes;
			moved = true;
		}
		if (s->state == SOURCE_HOT) {
			list_del(node);
			list_add(&w->hot, node);
		}
	}
	if (!moved)
		w->round++;
	return moved || closed;
}

bool sources_poll(struct worker *w)
{
	struct list *node, *after;
	if (w->freed && !list_empty(&w->stalled))
		heat_stalled(w);
	if (list_empty(&w->hot))
		return false;
	if (!(w->hot_lanes > 1 ? poll_lanes(w) : poll_lane(w)))
		return false;
	/* There is traffic: sources that have had none for a while need not cost a poll each. */
	list_for_each(node, after, &w->hot) {
		struct source *s = list_entry(node, struct source, link);
		if (s->idle > IDLE_POLLS && half_cool_source(w, s))
			s->idle = 0;
	}
	return true;
}
