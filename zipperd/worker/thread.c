/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread polls the sources of its workers in rounds, tries full links again, tells refusals, and flushes once per
 * round. Sources with traffic are hot and polled directly. The others are armed and left to epoll, which is looked at
 * now and then. When nothing happens the thread spins a little, then yields, then arms everything and sleeps.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "zipperd/worker/thread.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/base/clock.h"
#include "zipperd/lane/refusal.h"
#include "zipperd/lane/relay.h"
#include "zipperd/lane/stream.h"
#include "zipperd/lane/tx.h"
#include "zipperd/onesided/move.h"
#include "zipperd/worker/command.h"
#include "zipperd/worker/inbound.h"
#include "zipperd/worker/note.h"
#include "zipperd/worker/sources.h"
#include "zipperd/worker/streams.h"

#define ROUNDS_PER_EPOLL 16 /* busy or idle rounds between looks at epoll */
#define EPOLL_BATCH 64
#define RETRY_MS 1	      /* sleep while a ring is full, as its reader does not tell when there is room */
#define STALL_MS 10	      /* sleep while sources are stalled, as memory may come free in another worker */
#define ROUNDS_PER_STALL 1024 /* rounds between looks at stalled sources, where the thread does not sleep */

static void tell_others(struct worker *w)
{
	if (w->told_control)
		eventfd_write(w->control_fd, 1);
	if (w->told_opposite)
		eventfd_write(w->opposite->wake_fd, 1);
	w->told_control = w->told_opposite = false;
	relay_wake(w);
}

/* --- waiting --- */

/* Takes what the epoll set tells, for any worker of this thread. w: the worker whose turn it is; NULL: all workers have
 * their turns next. true: the second worker's set has something. */
static bool look(int epoll, const struct worker *w, int timeout_ms)
{
	struct epoll_event ev[EPOLL_BATCH];
	bool second = false;
	int n = epoll_wait(epoll, ev, EPOLL_BATCH, timeout_ms);
	/* Nothing is freed here, things only change lists. So all pointers of the batch stay good. */
	for (int i = 0; i < n; i++) {
		enum waiter *kind = ev[i].data.ptr;
		if (*kind == WAITER_SOURCE) {
			struct source *s = ev[i].data.ptr;
			if (s->state == SOURCE_COLD)
				half_move_source(s, &s->lane->worker->hot, SOURCE_HOT);
		} else if (*kind == WAITER_WAKE) {
			const struct worker *woken = list_entry(kind, struct worker, waiter);
			eventfd_t ignored;
			/* The other worker may have had its turn already. If it sleeps before the next, this wakes it.
			 */
			if (!w || w == woken)
				eventfd_read(woken->wake_fd, &ignored);
		} else if (*kind == WAITER_SECOND) {
			second = true;
		} else if (*kind == WAITER_TRUNK) {
			continue; /* the next turn tries */
		} else {
			struct dest *d = ((struct tx *)ev[i].data.ptr)->dest;
			if (!d)
				continue;
			tx_warm(d->lane->worker, d);
			d->tries = 0;
			if (!list_linked(&d->blocked))
				list_add(&d->lane->worker->blocked, &d->blocked);
		}
	}
	return second;
}

/* First in a turn: it consumes the wake-ups, and the turn looks at everything that they are for afterwards. */
static void look_now_and_then(struct worker *w)
{
	const bool sources = !list_empty(&w->cold);
	if (w->turns % ROUNDS_PER_EPOLL != 0 && w->unlooked < SOURCES_TURN_BYTES)
		return;
	w->unlooked = 0;
	if (sources)
		look(w->rx_epoll, w, 0);
	if (w->cold_txs > 0 && !(sources && w->tx_epoll == w->rx_epoll))
		look(w->tx_epoll, w, 0);
}

/* Arms everything. Returns the milliseconds that the worker may sleep; -1: until something comes. */
static int prepare_sleep(struct worker *w)
{
	struct list *node, *after;
	bool carrying, busy = move_sleep(w, &carrying);
	list_for_each(node, after, &w->hot)
		busy |= half_cool_source(w, list_entry(node, struct source, link));
	list_for_each(node, after, &w->blocked) {
		tx_cool(w, list_entry(node, struct dest, blocked));
		busy |= list_linked(node);
	}
	busy |= stream_sleep(w);
	tell_others(w);
	if (busy)
		return 0;
	w->freed = true; /* look at stalled sources afterwards */
	if (!list_empty(&w->due))
		return RETRY_MS;
	if (!list_empty(&w->finishing))
		return STALL_MS;
	if (list_empty(&w->stalled) && list_empty(&w->streams_held) && !note_ring_peek(&w->ports->notes) &&
		!inbound_waits(w))
		return carrying ? STALL_MS : -1;
	return STALL_MS;
}

/* true: something happened. The message that ended the sleep goes on before anything else is looked at. The rest has
 * its turn while that message is on its way. */
static bool go_to_sleep(struct worker_thread *t)
{
	int timeout = -1;
	bool moved = false;
	for (int i = 0; i < t->count; i++) {
		int ms = prepare_sleep(t->worker[i]);
		if (ms >= 0 && (timeout < 0 || ms < timeout))
			timeout = ms;
	}
	if (look(t->worker[0]->epoll, NULL, timeout))
		look(t->worker[1]->epoll, NULL, 0);
	for (int i = 0; i < t->count; i++) {
		if (list_empty(&t->worker[i]->hot))
			continue;
		moved |= sources_poll(t->worker[i]);
		dest_flush_touched(t->worker[i]);
	}
	return moved;
}

/* Has the thread had work so lately that it goes on looking? */
static bool keeps_looking(struct worker_thread *t)
{
	if (t->poll_ns == 0)
		return false;
	const int64_t now = zclock_ns();
	if (t->quiet_ns == 0)
		t->quiet_ns = now;
	if (now - t->quiet_ns >= t->poll_ns)
		return false;
	sched_yield();
	return true;
}

/* true: something happened. */
static bool turn(struct worker *w)
{
	look_now_and_then(w);
	w->freed |= w->turns++ % ROUNDS_PER_STALL == 0;
	bool moved = command_run_all(w);
	if (note_ring_peek(&w->ports->notes))
		moved |= note_take_all(w);
	moved |= inbound_turn(w);
	moved |= sources_poll(w);
	dest_flush_touched(w); /* the messages of this round leave before anything else is looked at */
	moved |= move_turn(w);
	if (__builtin_expect(!list_empty(&w->streams_held), 0))
		moved |= streams_turn(w);
	if (__builtin_expect(!list_empty(&w->trunks_full) || !list_empty(&w->streams_due), 0))
		moved |= stream_turn(w);
	moved |= dest_try_blocked(w);
	refusal_send_due(w);
	dest_flush_touched(w);
	if (__builtin_expect(!list_empty(&w->finishing), 0))
		half_finish_turn(w);
	tell_others(w);
	return moved;
}

void *thread_run(void *arg)
{
	struct worker_thread *t = arg;
	int running = t->count;
	pthread_setname_np(pthread_self(), t->name);
	while (running > 0) {
		bool moved = false;
		running = 0;
		for (int i = 0; i < t->count; i++) {
			moved |= turn(t->worker[i]);
			running += !t->worker[i]->stop;
		}
		if (!moved && zwait_step(&t->wait) && !keeps_looking(t))
			moved = go_to_sleep(t);
		if (moved) {
			zwait_reset(&t->wait);
			zwait_share(&t->wait);
			t->quiet_ns = 0;
		}
	}
	return NULL;
}
