/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns and waiting, see thread.h. */
#include "zipcast/thread.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "zipcast/begin.h"
#include "zipcast/call.h"
#include "zipcast/end.h"
#include "zipcast/execute.h"
#include "zipcast/guest.h"
#include "zipcast/poll.h"
#include "zipcast/remote.h"
#include "zipcast/send.h"

#define POLL_MS 50     /* of polling after something came: the paper's section 4.2 */
#define TICK_MS 200    /* between looks at deadlines, if there are any */
#define RETRY_TURNS 8  /* between tries of full links: each try costs TCP a system call */
#define LOOK_TURNS 256 /* idle turns between looks at the listener while polling */

static bool is_stopped(const struct zipcast *zc)
{
	bool unsaid = false;
	for (uint32_t i = 0; zc->stop && i < zc->nup && !unsaid; i++)
		unsaid = zc->up[i]->words || zc->up[i]->link.posted;
	return zc->stop && ((!unsaid && !zc->groups) || zclock_ms() >= zc->stop_ms);
}

static bool poll_links(struct zipcast *zc)
{
	bool did = false;
	/* The last node takes the place of one that loses its link. */
	for (uint32_t i = 0; i < zc->nup;) {
		struct node *node = zc->up[i];
		did |= zremote_reap(node);
		did |= zpoll_node(node) != 0;
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
			znode_retry(zc->up[i]);
}

static void run_groups(struct zipcast *zc)
{
	struct list now;
	list_take(&now, &zc->runnable);
	while (!list_empty(&now)) {
		struct list *node = now.next;
		list_del(node);
		zsend_progress(list_entry(node, struct zipcast_group, runnable));
	}
	for (uint32_t i = 0; i < zc->nup; i++)
		znode_flush(zc->up[i]);
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
			zbegin_look(g, now);
}

static bool has_deadlines(const struct zipcast *zc)
{
	return zc->stop || zc->ndeadlines > 0 || !list_empty(&zc->guests);
}

/* The completion of a write wakes the thread as room does. */
static bool arm_sender(struct zipcast *zc, struct cast_link *l)
{
	const bool waits = l->blocked || l->writes || l->failing;
	zcontext_watch_for_room(zc, l, waits);
	return !waits || l->zlink->ops->arm(l->zlink, ZLINK_TX) == 0;
}

/* Arms all links. False: there is something to do. */
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
	if (zc->met && zguest_accept(zc))
		zguest_turn(zc);
}

/* Either the thread sees a new command, or the command's maker sees that the thread is asleep. */
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

void *zthread_run(void *arg)
{
	struct zipcast *zc = arg;
	while (!is_stopped(zc)) {
		bool did = zexecute_all(zc);
		zend_bury(zc);
		did |= poll_links(zc);
		if (!list_empty(&zc->guests))
			did |= zguest_turn(zc);
		if (!list_empty(&zc->calls))
			did |= zcall_turn(zc);
		did |= !list_empty(&zc->runnable);
		const uint64_t posts = zc->posts;
		retry_links(zc);
		run_groups(zc);
		did |= zend_settle(zc) || zc->posts != posts;
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
