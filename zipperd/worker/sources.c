/* SPDX-License-Identifier: BSD-3-Clause */
/* A round over the sources of a worker. */
#include "zipperd/worker/sources.h"

#include <errno.h>

#include "zipperd/lane/worker.h"
#include "zipperd/worker/forward.h"

#define POLL_BUDGET 16 /* messages of one source per round: 2 MiB of fragments */
#define IDLE_POLLS 32  /* busy rounds without a message until a source is left to epoll */

/* The number of messages, or 1 if the source was lost. 0: nothing happened. */
static inline __attribute__((always_inline)) int poll_source(struct worker *w, struct source *s, unsigned budget)
{
	const struct zsink sink = {.take = forward_take, .ctx = s};
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

/* All sources are one lane's. */
static bool poll_lane(struct worker *w)
{
	struct list *node, *after;
	const struct lane *l = list_entry(w->hot.next, struct source, link)->lane;
	const uint64_t before = bytes_of(l);
	bool moved = false;
	list_for_each(node, after, &w->hot)
		moved |= poll_source(w, list_entry(node, struct source, link), POLL_BUDGET) > 0;
	if (moved)
		w->unlooked += bytes_of(l) - before;
	return moved;
}

/* A lane's sources take turns: one that was polled goes behind the others. */
static __attribute__((noinline)) bool poll_lanes(struct worker *w)
{
	struct list *node = w->hot.next, *after;
	bool moved = false;
	w->round++;
	for (uint32_t n = w->hot_sources; n > 0 && node != &w->hot; n--, node = after) {
		struct source *s = list_entry(node, struct source, link);
		struct lane *l = s->lane;
		after = node->next;
		if (!deficit_open(&l->deficit, w->round)) {
			moved = true;
			continue;
		}
		uint64_t bytes = bytes_of(l);
		const unsigned most = POLL_BUDGET * l->deficit.weight;
		int messages = poll_source(w, s, deficit_messages(&l->deficit, most));
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
	return moved;
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
