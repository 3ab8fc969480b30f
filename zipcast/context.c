/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: commands, and the thread with its waiting. See context.h. */
#include "zipcast/context.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/base/clock.h"

#define POLL_MS 50     /* after something came: the paper's section 4.2 */
#define STOP_MS 2000   /* for closing: an overloaded node may not hear any more */
#define TICK_MS 200    /* between looks at deadlines, when there are any */
#define RETRY_TURNS 8  /* between tries of links that were full, which each take TCP a system call */
#define LOOK_TURNS 256 /* idle turns between looks at the listener while polling */

/* --- descriptors --- */

int zcast_watch(struct zipcast *zc, struct cast_link *l, struct zlink *z)
{
	uint32_t rx_events = 0, tx_events = 0;
	*l = (struct cast_link){.zlink = z};
	l->rx_fd = z->ops->fd(z, ZLINK_RX, &rx_events);
	l->tx_fd = z->ops->fd(z, ZLINK_TX, &tx_events);
	struct epoll_event ev = {.events = rx_events};
	return epoll_ctl(zc->epoll, EPOLL_CTL_ADD, l->rx_fd, &ev) == 0 ? 0 : -errno;
}

static void watch_for_room(struct zipcast *zc, struct cast_link *l, bool watch)
{
	uint32_t rx_events = 0, tx_events = 0;
	if (l->watched == watch)
		return;
	l->watched = watch;
	l->zlink->ops->fd(l->zlink, ZLINK_RX, &rx_events);
	l->zlink->ops->fd(l->zlink, ZLINK_TX, &tx_events);
	bool same = l->tx_fd == l->rx_fd;
	struct epoll_event ev = {.events = !same ? tx_events : watch ? rx_events | tx_events : rx_events};
	epoll_ctl(zc->epoll, same ? EPOLL_CTL_MOD : watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, l->tx_fd, &ev);
}

void zcast_unwatch(struct zipcast *zc, struct cast_link *l)
{
	watch_for_room(zc, l, false);
	epoll_ctl(zc->epoll, EPOLL_CTL_DEL, l->rx_fd, NULL);
}
/* --- commands --- */

bool zcast_on_thread(const struct zipcast *zc)
{
	return pthread_equal(pthread_self(), zc->thread);
}

static void wake(struct zipcast *zc)
{
	uint64_t one = 1;
	(void)!write(zc->wake, &one, sizeof(one));
}

void zcast_command(struct zipcast *zc, struct command *c)
{
	c->next = NULL;
	c->done = false;
	pthread_mutex_lock(&zc->lock);
	*zc->commands_tail = c;
	zc->commands_tail = &c->next;
	atomic_store(&zc->pending, true);
	if (atomic_load(&zc->asleep))
		wake(zc);
	while (c->waited && !c->done)
		pthread_cond_wait(&zc->executed, &zc->lock);
	pthread_mutex_unlock(&zc->lock);
}

void zcast_command_done(struct zipcast *zc, struct command *c)
{
	pthread_mutex_lock(&zc->lock);
	c->done = true;
	pthread_cond_broadcast(&zc->executed);
	pthread_mutex_unlock(&zc->lock);
}

static void queue_message(struct zipcast_group *g, struct outgoing *out)
{
	if (atomic_load(&g->failed)) {
		free(out);
		return;
	}
	*g->queue_tail = out;
	g->queue_tail = &out->next;
	zcast_runnable(g);
}

static void take_link(struct zipcast *zc, struct command *c)
{
	c->rc = zcast_link_settle(zc, c->zlink, c->why);
	if (c->rc == 0)
		c->rc = zcast_node_up(c->node, c->zlink, c->why);
	else
		c->zlink->ops->close(c->zlink);
}

/* The thread goes on until the other nodes have been told. */
static void stop(struct zipcast *zc)
{
	struct zipcast_group *g, *after;
	HASH_ITER(hh, zc->groups, g, after)
		zcast_group_end(g);
	zc->stop = true;
	zc->stop_ms = zclock_ms() + STOP_MS;
}

static bool is_stopped(const struct zipcast *zc)
{
	bool unsaid = false;
	for (uint32_t i = 0; zc->stop && i < zc->nup && !unsaid; i++)
		unsaid = zc->up[i]->words || zc->up[i]->link.posted;
	return zc->stop && ((!unsaid && !zc->groups) || zclock_ms() >= zc->stop_ms);
}

/* False: it is done later. */
static bool destroy(struct command *c)
{
	zcast_group_end(c->group);
	if (!c->group->gone)
		c->group->destroyer = c;
	return c->group->gone;
}

/* Messages that were queued by the last callbacks of groups that are gone. */
void zcast_drop_commands(struct zipcast *zc)
{
	while (zc->commands) {
		struct command *c = zc->commands;
		zc->commands = c->next;
		free(c->out);
		free(c);
	}
	zc->commands_tail = &zc->commands;
}

static void listen_from_now_on(struct zipcast *zc)
{
	struct epoll_event ev = {.events = EPOLLIN};
	epoll_ctl(zc->epoll, EPOLL_CTL_MOD, zc->listener->ops->listener_fd(zc->listener), &ev); /* needs no memory */
}

/* True: it is done. */
static bool execute(struct zipcast *zc, struct command *c)
{
	switch (c->kind) {
	case COMMAND_LINK:
		take_link(zc, c);
		break;
	case COMMAND_CALL:
		c->rc = zcast_bridge_add(c->node, c->zlink, c->why);
		break;
	case COMMAND_GROUP:
		c->rc = zcast_group_begin(c->group);
		if (c->rc != 0)
			zcast_group_abandon(c->group);
		break;
	case COMMAND_ABANDON:
		zcast_group_begin(c->group);
		zcast_group_abandon(c->group);
		break;
	case COMMAND_SEND:
		queue_message(c->group, c->out);
		break;
	case COMMAND_DESTROY:
		return destroy(c);
	case COMMAND_MEET:
		zc->met = true;
		listen_from_now_on(zc);
		break;
	case COMMAND_STOP:
		stop(zc);
		break;
	}
	return true;
}

static bool take_commands(struct zipcast *zc)
{
	if (!atomic_load_explicit(&zc->pending, memory_order_acquire))
		return false;
	pthread_mutex_lock(&zc->lock);
	struct command *c = zc->commands;
	zc->commands = NULL;
	zc->commands_tail = &zc->commands;
	atomic_store(&zc->pending, false);
	pthread_mutex_unlock(&zc->lock);
	while (c) {
		struct command *next = c->next;
		const bool waited = c->waited, done = execute(zc, c);
		if (!waited)
			free(c);
		else if (done)
			zcast_command_done(zc, c);
		c = next;
	}
	return true;
}

/* --- the thread --- */

static bool poll_links(struct zipcast *zc)
{
	bool did = false;
	/* A lost link takes its place from the last one. */
	for (uint32_t i = 0; i < zc->nup;) {
		struct node *node = zc->up[i];
		did |= zcast_remote_reap(node);
		did |= zcast_node_poll(node) != 0;
		if (i < zc->nup && zc->up[i] == node)
			i++;
	}
	return did;
}

static void retry_links(struct zipcast *zc)
{
	if (zc->patience-- > 0)
		return;
	zc->patience = RETRY_TURNS - 1;
	for (uint32_t i = 0; i < zc->nup; i++)
		if (zc->up[i]->link.blocked)
			zcast_node_retry(zc->up[i]);
}

static void run_groups(struct zipcast *zc)
{
	struct list now;
	list_take(&now, &zc->runnable);
	while (!list_empty(&now)) {
		struct list *node = now.next;
		list_del(node);
		zcast_message_progress(list_entry(node, struct zipcast_group, runnable));
	}
	for (uint32_t i = 0; i < zc->nup; i++)
		zcast_node_flush(zc->up[i]);
}

static void look_at_deadlines(struct zipcast *zc)
{
	int64_t now = zclock_ms();
	if (now - zc->tick_ms < TICK_MS)
		return;
	zc->tick_ms = now;
	struct zipcast_group *g, *after;
	HASH_ITER(hh, zc->groups, g, after)
		if (g->deadline_ms)
			zcast_group_look(g, now);
}

static bool has_deadlines(const struct zipcast *zc)
{
	return zc->stop || zc->ndeadlines > 0 || !list_empty(&zc->guests);
}

/* Completions of writes wake as room does. */
static bool arm_sender(struct zipcast *zc, struct cast_link *l)
{
	const bool waits = l->blocked || l->writes || l->failing;
	watch_for_room(zc, l, waits);
	return !waits || l->zlink->ops->arm(l->zlink, ZLINK_TX) == 0;
}

/* Arms everything; false: there is something to do. */
static bool arm_all(struct zipcast *zc)
{
	struct list *node, *after;
	for (uint32_t i = 0; i < zc->nup; i++) {
		struct cast_link *l = &zc->up[i]->link;
		if (l->zlink->ops->arm(l->zlink, ZLINK_RX) != 0 || !arm_sender(zc, l))
			return false;
	}
	list_for_each(node, after, &zc->guests) {
		struct zlink *z = list_entry(node, struct guest, of_context)->link.zlink;
		if (z->ops->arm(z, ZLINK_RX) != 0)
			return false;
	}
	list_for_each(node, after, &zc->calls) {
		struct zlink *z = list_entry(node, struct call, of_context)->link.zlink;
		if (z->ops->arm(z, ZLINK_RX) != 0)
			return false;
	}
	return true;
}

static void look_at_listener(struct zipcast *zc)
{
	if (zc->met && zcast_guests_accept(zc))
		zcast_guests_turn(zc);
}

/* Either the thread sees the command, or who has made that sees it asleep. */
static bool fall_asleep(struct zipcast *zc)
{
	atomic_store(&zc->asleep, true);
	if (!atomic_load(&zc->pending))
		return true;
	atomic_store(&zc->asleep, false);
	return false;
}

static void sleep_now(struct zipcast *zc)
{
	struct epoll_event ev[16];
	zc->patience = 0;
	if (!arm_all(zc) || !fall_asleep(zc))
		return;
	int n = epoll_wait(zc->epoll, ev, 16, has_deadlines(zc) ? TICK_MS : -1);
	atomic_store(&zc->asleep, false);
	if (n > 0) {
		uint64_t count;
		(void)!read(zc->wake, &count, sizeof(count));
		look_at_listener(zc);
	}
}

static void idle(struct zipcast *zc)
{
	bool tired = zwait_step(&zc->wait);
	if (++zc->turns % LOOK_TURNS == 0)
		look_at_listener(zc);
	if (zc->waiting == ZIPCAST_INTERRUPTS) {
		sleep_now(zc);
	} else if (tired) {
		bool recent = zclock_ms() - zc->active_ms < POLL_MS;
		if (zc->waiting == ZIPCAST_POLL || (recent && !zc->wait.crowded))
			sched_yield();
		else
			sleep_now(zc);
	}
}

/* What was asked of a group before it was destroyed stands before that in the queue, or has come into it before this
 * turn: so groups are freed after commands were taken, and the last ones when no commands are left. */
void zcast_bury(struct zipcast *zc)
{
	while (!list_empty(&zc->ended)) {
		struct list *node = zc->ended.next;
		list_del(node);
		zcast_group_free(list_entry(node, struct zipcast_group, runnable));
	}
}

void *zcast_run(void *arg)
{
	struct zipcast *zc = arg;
	while (!is_stopped(zc)) {
		bool did = take_commands(zc);
		zcast_bury(zc);
		did |= poll_links(zc);
		if (!list_empty(&zc->guests))
			did |= zcast_guests_turn(zc);
		if (!list_empty(&zc->calls))
			did |= zcast_calls_turn(zc);
		did |= !list_empty(&zc->runnable);
		const uint64_t posts = zc->posts;
		retry_links(zc);
		run_groups(zc);
		did |= zcast_settle(zc) || zc->posts != posts;
		if (did) {
			zwait_reset(&zc->wait);
			zc->active_ms = zclock_ms();
			if (zc->looked_ms != zc->active_ms)
				look_at_listener(zc);
			zc->looked_ms = zc->active_ms;
		} else {
			idle(zc);
		}
		if (has_deadlines(zc))
			look_at_deadlines(zc);
	}
	return NULL;
}
