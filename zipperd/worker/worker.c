/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction: polls its sources in rounds, tries full links again, tells refusals, and flushes once per round.
 * Sources with traffic are hot and polled directly; the others are armed and left to epoll, which is looked at now and
 * then. When nothing happens the thread spins a little, then yields, then arms everything and sleeps.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "zipperd/worker/fanout.h"
#include "zipperd/worker/transfer.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/clock.h"

#define POLL_BUDGET 16	    /* messages of one source per round: 2 MiB of fragments */
#define IDLE_POLLS 32	    /* a source without messages for so many busy rounds is left to epoll */
#define ROUNDS_PER_EPOLL 16 /* busy or idle rounds between looks at epoll */
#define EPOLL_BATCH 64
#define RETRY_MS 1	      /* sleep while a ring is full: its reader gives no sign when there is room */
#define FINISH_MS 2000	      /* for a receiver to take what waits for it, when its circuit is over */
#define STALL_MS 10	      /* sleep while sources are stalled: memory may come free in another worker */
#define ROUNDS_PER_STALL 1024 /* the same without sleep: some may be busy, or poll, for as long as they like */

void worker_emit(struct worker *w, const struct event *e)
{
	/* The control thread never waits for a worker, so this ends. */
	while (!event_ring_push(&w->ports->events, e)) {
		eventfd_write(w->control_fd, 1);
		sched_yield();
	}
	w->told_control = true;
}

static void tell_others(struct worker *w)
{
	if (w->told_control)
		eventfd_write(w->control_fd, 1);
	if (w->told_opposite)
		eventfd_write(w->opposite->wake_fd, 1);
	w->told_control = w->told_opposite = false;
	relay_tell(w);
}

/* --- sources --- */

static void move(struct source *s, struct list *to, enum source_state state)
{
	list_del(&s->link);
	s->state = state;
	s->idle = 0;
	if (to)
		list_add(to, &s->link);
}

static void watch_source(struct worker *w, struct source *s, bool watch)
{
	uint32_t events = 0;
	s->zlink->ops->fd(s->zlink, ZLINK_RX, &events);
	struct epoll_event ev = {.events = watch ? events : EPOLLONESHOT, .data.ptr = s};
	epoll_ctl(w->rx_epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

void worker_lose_source(struct worker *w, struct source *s, int rc)
{
	if (s->state == SOURCE_GONE)
		return;
	epoll_ctl(w->rx_epoll, EPOLL_CTL_DEL, s->fd, NULL);
	move(s, NULL, SOURCE_GONE);
	transfer_source_gone(w, s);
	multicast_source_gone(w, s);
	worker_emit(w, &(struct event){.kind = EVENT_HALF_LOST,
			       .channel = s->channel,
			       .half = ZLINK_RX,
			       .rc = rc,
			       .breach = s->breach});
}

/* A lane goes with its last half: operations that are under way there belong to its transfers. */
static void settle_lane(struct worker *w, struct lane *l)
{
	if (!l->dropping || l->halves > 0)
		return;
	forward_drop_lane(w, l);
	worker_emit(w, &(struct event){.kind = EVENT_LANE_GONE, .lane = l});
}

/* It is in none of our lists any more, and another's from now on. */
static void give_back_half(struct worker *w, struct lane *l, struct channel *c)
{
	worker_emit(w, &(struct event){.kind = EVENT_HALF_GONE, .channel = c});
	l->halves--;
	settle_lane(w, l);
}

void worker_settle_source(struct worker *w, struct source *s)
{
	if (!s->dropping || s->reads > 0)
		return;
	list_del(&s->reading);
	staging_leave(&w->staging, s->zlink, ZLINK_RX, s->region);
	give_back_half(w, s->lane, s->channel);
}

static void drop_source(struct worker *w, struct source *s)
{
	if (s->state != SOURCE_GONE) {
		epoll_ctl(w->rx_epoll, EPOLL_CTL_DEL, s->fd, NULL);
		move(s, NULL, SOURCE_GONE);
		transfer_source_gone(w, s);
		multicast_source_gone(w, s);
	}
	s->dropping = true;
	if (s->reads > 0) /* of transfers that are dead; its peer may never answer */
		s->zlink->ops->rma->give_up(s->zlink, ZLINK_RX);
	worker_settle_source(w, s);
}

static void add_source(struct worker *w, struct source *s)
{
	uint32_t events = 0;
	s->waiter = WAITER_SOURCE;
	s->lane->halves++;
	list_init(&s->transfers);
	list_init(&s->fanouts);
	s->fd = s->zlink->ops->fd(s->zlink, ZLINK_RX, &events);
	struct epoll_event ev = {.events = events, .data.ptr = s};
	int rc = epoll_ctl(w->rx_epoll, EPOLL_CTL_ADD, s->fd, &ev) != 0 ? -errno : 0;
	move(s, &w->hot, SOURCE_HOT);
	if (rc != 0)
		worker_lose_source(w, s, rc);
}

/* true: it has something after all. */
static bool cool_source(struct worker *w, struct source *s)
{
	int rc = s->zlink->ops->arm(s->zlink, ZLINK_RX);
	if (rc < 0)
		worker_lose_source(w, s, rc);
	else if (rc == 0)
		move(s, &w->cold, SOURCE_COLD);
	return rc > 0;
}

static bool poll_source(struct worker *w, struct source *s)
{
	const struct zsink sink = {.take = forward_take, .ctx = s};
	const struct ztransport *ops = s->zlink->ops;
	const uint64_t before = ops->copied ? ops->copied(s->zlink, ZLINK_RX) : 0;
	int rc = ops->poll(s->zlink, &sink, POLL_BUDGET);
	if (ops->copied)
		stat_add(&s->lane->stats.copied_bytes, ops->copied(s->zlink, ZLINK_RX) - before);
	if (s->no_room) {
		s->no_room = false;
		move(s, &w->stalled, SOURCE_STALLED);
		watch_source(w, s, false);
		return rc > 0;
	}
	if (rc < 0 && rc != -EAGAIN) {
		worker_lose_source(w, s, rc);
		return true;
	}
	if (rc > 0)
		s->idle = 0;
	else
		s->idle++;
	return rc > 0;
}

static bool poll_sources(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	if (w->freed && !list_empty(&w->stalled)) {
		w->freed = false;
		list_for_each(node, after, &w->stalled) {
			struct source *s = list_entry(node, struct source, link);
			move(s, &w->hot, SOURCE_HOT);
			watch_source(w, s, true);
		}
	}
	list_for_each(node, after, &w->hot)
		moved |= poll_source(w, list_entry(node, struct source, link));
	if (!moved)
		return false;
	/* Somebody has traffic: those who have not had any for a while need not cost a poll each. */
	list_for_each(node, after, &w->hot) {
		struct source *s = list_entry(node, struct source, link);
		if (s->idle > IDLE_POLLS && cool_source(w, s))
			s->idle = 0;
	}
	return true;
}

/* --- full links --- */

static void unwatch_tx(struct worker *w, struct tx *tx)
{
	if (tx->in_epoll)
		epoll_ctl(w->tx_epoll, EPOLL_CTL_DEL, tx->fd, NULL);
	tx->in_epoll = false;
}

void worker_cool_tx(struct worker *w, struct dest *d)
{
	struct tx *tx = d->tx;
	int rc = tx->zlink->ops->arm(tx->zlink, ZLINK_TX);
	if (rc != 0) { /* there is room, or it is broken: the next round finds out */
		d->tries = 0;
		return;
	}
	uint32_t events = 0;
	tx->fd = tx->zlink->ops->fd(tx->zlink, ZLINK_TX, &events);
	struct epoll_event ev = {.events = events | EPOLLONESHOT, .data.ptr = tx};
	if (epoll_ctl(w->tx_epoll, tx->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, tx->fd, &ev) != 0) {
		d->tries = 0; /* nothing would wake it: it is tried in every round, and nobody sleeps meanwhile */
		return;
	}
	tx->in_epoll = true;
	d->cold = true;
	w->cold_txs++;
	list_del(&d->blocked);
}

void worker_warm_tx(struct worker *w, struct dest *d)
{
	w->cold_txs -= d->cold;
	d->cold = false;
}

void worker_settle_tx(struct worker *w, struct tx *tx)
{
	if (!tx->dropping || tx->writes > 0)
		return;
	list_del(&tx->writing); /* it is there also while pieces wait and none is under way */
	staging_leave(&w->staging, tx->zlink, ZLINK_TX, tx->region);
	fanned_forget(w, tx->zlink);
	if (tx->zlink->ops->stop_sending)
		tx->zlink->ops->stop_sending(tx->zlink);
	give_back_half(w, tx->lane, tx->channel);
}

static void drop_tx(struct worker *w, struct tx *tx)
{
	forward_drop_tx(w, tx);
	unwatch_tx(w, tx);
	tx->dropping = true;
	if (tx->writes > 0)
		tx->zlink->ops->rma->give_up(tx->zlink, ZLINK_TX);
	worker_settle_tx(w, tx);
}

/* Does something wait for its link? */
static bool is_sending(const struct dest *d)
{
	return d && (d->head || d->cold || list_linked(&d->blocked) || list_linked(&d->touched));
}

static void finish_txs(struct worker *w)
{
	struct list *node, *after;
	int64_t now = zclock_ms();
	list_for_each(node, after, &w->finishing) {
		struct tx *tx = list_entry(node, struct tx, finishing);
		if (is_sending(tx->dest) && now < tx->finish_ms)
			continue;
		list_del(&tx->finishing);
		drop_tx(w, tx);
	}
}

/* --- commands and notes --- */

static void run_command(struct worker *w, const struct command *c)
{
	switch (c->kind) {
	case CMD_ADD_LANE:
		if (c->lane->circuit)
			break; /* nobody looks for it, and there may be thousands */
		c->lane->next = w->lanes;
		w->lanes = c->lane;
		break;
	case CMD_ADD_SOURCE:
		add_source(w, c->source);
		break;
	case CMD_ADD_TX:
		c->tx->waiter = WAITER_TX;
		c->tx->lane = c->lane;
		c->lane->halves++;
		forward_add_tx(w, c->lane, c->dest, c->tx);
		break;
	case CMD_DROP_SOURCE:
		drop_source(w, c->source);
		break;
	case CMD_DROP_TX:
		drop_tx(w, c->tx);
		break;
	case CMD_FINISH_TX:
		c->tx->finish_ms = zclock_ms() + FINISH_MS;
		list_add(&w->finishing, &c->tx->finishing);
		break;
	case CMD_DEST_BYE:
		forward_dest_bye(w, c->lane, c->dest);
		break;
	case CMD_ADD_INBOUND:
		c->relay->inbound_next = w->inbound;
		w->inbound = c->relay;
		break;
	case CMD_ADD_RELAY:
		c->lane->relay[c->part] = c->relay;
		w->freed = true; /* a source may wait for it */
		break;
	case CMD_DROP_LANE:
		c->lane->dropping = true;
		settle_lane(w, c->lane);
		break;
	case CMD_STOP:
		w->stop = true;
		break;
	}
}

static bool run_commands(struct worker *w)
{
	struct command *c;
	bool any = false;
	while ((c = command_ring_peek(&w->ports->commands))) {
		run_command(w, c);
		command_ring_drop(&w->ports->commands);
		any = true;
	}
	return any;
}

void worker_run_commands(struct worker *w)
{
	run_commands(w);
}

static bool send_notes(struct worker *w)
{
	struct note *n;
	bool any = false;
	while ((n = note_ring_peek(&w->ports->notes))) {
		/* The lane that it is about was added before the opposite worker could have it: but the command may
		 * have come since we looked. */
		run_commands(w);
		if (forward_note(w, n) != 0)
			break;
		note_ring_drop(&w->ports->notes);
		any = true;
	}
	return any;
}

/* --- waiting --- */

/* What the set says, of whichever worker of this thread; it was w that looked, or NULL: all will have their turns.
 * true: there is something in the second one's set. */
static bool look(int epoll, const struct worker *w, int timeout_ms)
{
	struct epoll_event ev[EPOLL_BATCH];
	bool second = false;
	int n = epoll_wait(epoll, ev, EPOLL_BATCH, timeout_ms);
	/* Nothing is freed here, so that pointers of one batch stay good: things only change lists. */
	for (int i = 0; i < n; i++) {
		enum waiter *kind = ev[i].data.ptr;
		if (*kind == WAITER_SOURCE) {
			struct source *s = ev[i].data.ptr;
			if (s->state == SOURCE_COLD)
				move(s, &s->lane->worker->hot, SOURCE_HOT);
		} else if (*kind == WAITER_WAKE) {
			const struct worker *woken = list_entry(kind, struct worker, waiter);
			eventfd_t ignored;
			/* The other one may have had its turn, and sleep before it has another: then this wakes it. */
			if (!w || w == woken)
				eventfd_read(woken->wake_fd, &ignored);
		} else if (*kind == WAITER_SECOND) {
			second = true;
		} else {
			struct dest *d = ((struct tx *)ev[i].data.ptr)->dest;
			if (!d)
				continue;
			worker_warm_tx(d->lane->worker, d);
			d->tries = 0;
			if (!list_linked(&d->blocked))
				list_add(&d->lane->worker->blocked, &d->blocked);
		}
	}
	return second;
}

/* First in a turn: this takes what shall wake us from sleep, and all that it is for is looked at behind it. */
static void look_now_and_then(struct worker *w)
{
	const bool sources = !list_empty(&w->cold);
	if (w->turns % ROUNDS_PER_EPOLL != 0)
		return;
	if (sources)
		look(w->rx_epoll, w, 0);
	if (w->cold_txs > 0 && !(sources && w->tx_epoll == w->rx_epoll))
		look(w->tx_epoll, w, 0);
}

/* Arms everything. How long it may sleep, in milliseconds; -1: until something comes. */
static int prepare_sleep(struct worker *w)
{
	struct list *node, *after;
	bool carrying, busy = transfer_sleep(w, &carrying);
	list_for_each(node, after, &w->hot)
		busy |= cool_source(w, list_entry(node, struct source, link));
	list_for_each(node, after, &w->blocked) {
		worker_cool_tx(w, list_entry(node, struct dest, blocked));
		busy |= list_linked(node);
	}
	tell_others(w);
	if (busy)
		return 0;
	w->freed = true; /* look at the stalled ones afterwards */
	if (!list_empty(&w->due))
		return RETRY_MS;
	if (!list_empty(&w->finishing))
		return STALL_MS;
	if (list_empty(&w->stalled) && !note_ring_peek(&w->ports->notes) && !relay_waits(w))
		return carrying ? STALL_MS : -1;
	return STALL_MS;
}

/* true: something happened. What has woken us goes on before anything else is looked at: everything else has its turn
 * while that is on its way. */
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
		moved |= poll_sources(t->worker[i]);
		forward_flush(t->worker[i]);
	}
	return moved;
}

/* Has it had something to do so lately that it goes on looking? */
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
	bool moved = run_commands(w);
	moved |= send_notes(w);
	moved |= relay_turn(w);
	moved |= poll_sources(w);
	forward_flush(w); /* what has come goes on before anything else is looked at */
	moved |= transfer_turn(w);
	moved |= forward_blocked(w);
	admit_due(w);
	forward_flush(w);
	if (__builtin_expect(!list_empty(&w->finishing), 0))
		finish_txs(w);
	tell_others(w);
	return moved;
}

void *worker_run(void *arg)
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
