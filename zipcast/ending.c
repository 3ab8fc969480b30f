/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How groups end: by a failure, of which all members are told, or by being destroyed. The application gets its memory
 * back when nobody reaches it any more: when our own writes from it are complete, and each member that may write to it
 * has said that it has ended, too, or its link is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipcast/context.h"

#define REST_MS 2000 /* for that; then links break of who writes still, or is written to */
#define DRAIN_MS 100 /* for our own writes, in a callback: all other groups wait, too */

static void tell_failure(struct zipcast_group *g, const char *why)
{
	struct zwire_env env = {.kind = ZWIRE_FAIL, .src = g->zc->me, .comm = g->number, .len = (uint32_t)strlen(why)};
	zcast_tell_all(g, &env, why);
}

static void tell_leaving(struct zipcast_group *g)
{
	g->leaving = true;
	struct zwire_env env = {.kind = ZWIRE_LEAVE,
		.src = g->zc->me,
		.comm = g->number,
		.tag = (int32_t)zcast_leaves_without(g),
		.xfer = g->message.number};
	zcast_tell_all(g, &env, NULL);
}

/* What is arriving goes elsewhere. */
static void unplace(struct zipcast_group *g)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct node *n = g->member[i].node;
		if (!n || n->placing != g)
			continue;
		n->placing = NULL;
		if (n->link.zlink && n->link.zlink->ops->unplace)
			n->link.zlink->ops->unplace(n->link.zlink);
	}
}

static void drop_queue(struct zipcast_group *g)
{
	while (g->queue) {
		struct outgoing *o = g->queue;
		g->queue = o->next;
		free(o);
	}
	g->queue_tail = &g->queue;
}

/* Nothing is begun any more; what is under way comes to its rest. */
static void stop(struct zipcast_group *g)
{
	zcast_message_drop(&g->message);
	drop_queue(g);
	unplace(g);
	list_del(&g->runnable);
	zcast_group_deadline(g, zclock_ms() + REST_MS);
}

/* --- failing --- */

static void fail(struct zipcast_group *g, const char *why, bool tell)
{
	if (g->ended || !why || atomic_exchange(&g->failed, true))
		return;
	snprintf(g->why, sizeof(g->why), "%s", why);
	stop(g);
	if (tell)
		tell_failure(g, g->why);
	list_add(&g->zc->ending, &g->runnable);
}

void zcast_group_fail(struct zipcast_group *g, const char *why)
{
	fail(g, why, true);
}

void zcast_group_fail_without(struct zipcast_group *g, bool tell)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has destroyed group %u", g->leaver->without, g->number);
	fail(g, why, tell);
}

/* Others may be in the middle of the last message: for them it is as if we left. */
void zcast_group_cut_off(struct zipcast_group *g)
{
	tell_leaving(g);
	zcast_group_fail_without(g, false);
}

/* --- coming to rest --- */

static void leave(struct zipcast_group *g)
{
	g->gone = true;
	if (g->hh.tbl)
		HASH_DEL(g->zc->groups, g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		list_del(&g->member[i].of_node);
	list_del(&g->runnable);
	list_add(&g->zc->ended, &g->runnable);
	if (g->destroyer)
		zcast_command_done(g->zc, g->destroyer);
}

/* Does nobody reach its memory any more? now: nobody shall. */
static bool is_at_rest(struct zipcast_group *g, bool now)
{
	bool open = false;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (m->exposed && (m->over || now))
			zcast_remote_conceal(m);
		open |= m->exposed;
	}
	return !open && g->writes == 0;
}

/* False: it waits still. */
static bool settle(struct zipcast_group *g)
{
	if (!g->released) {
		const int64_t now_ms = zclock_ms();
		const bool late = now_ms >= g->deadline_ms;
		if (!is_at_rest(g, late)) {
			if (late) {
				zcast_remote_give_up(g);
				zcast_group_deadline(g, now_ms + REST_MS);
			}
			return false;
		}
		g->released = true;
		zcast_group_deadline(g, 0);
		zcast_remote_unpin(g);
		if (!g->ended && g->events.failed)
			g->events.failed(g->events.arg, g->why);
	}
	if (g->ended && !g->gone)
		leave(g);
	return true;
}

bool zcast_settle(struct zipcast *zc)
{
	struct list now;
	bool did = false;
	list_take(&now, &zc->ending);
	while (!list_empty(&now)) {
		struct zipcast_group *g = list_entry(now.next, struct zipcast_group, runnable);
		list_del(&g->runnable);
		if (settle(g))
			did = true;
		else
			list_add(&zc->ending, &g->runnable);
	}
	return did;
}

/* --- being destroyed --- */

void zcast_group_end(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	if (g->ended)
		return;
	const bool first = !atomic_exchange(&g->failed, true);
	bool failed = !first && !g->leaving;
	if (!failed && g->message.active) {
		/* Others may be in the middle of a message that we were to pass on. */
		char why[ZIPCAST_WHY_BYTES];
		snprintf(why, sizeof(why), "node %u has destroyed group %u during a message", zc->me, g->number);
		tell_failure(g, why);
		failed = true;
	} else if (!failed && !g->leaving) {
		tell_leaving(g);
	}
	g->ended = true;
	zcast_used_note(g, failed);
	if (first)
		stop(g);
	list_del(&g->runnable);
	if (!settle(g))
		list_add(&zc->ending, &g->runnable);
}

void zcast_group_end_now(struct zipcast_group *g)
{
	zcast_group_end(g);
	if (g->gone)
		return;
	is_at_rest(g, true);
	if (!zcast_remote_drain(g, DRAIN_MS)) {
		zcast_remote_give_up(g);
		zcast_remote_drain(g, REST_MS); /* a device tells of it at once */
	}
	settle(g);
}

void zcast_group_abandon(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	g->events.failed = NULL;
	snprintf(why, sizeof(why), "node %u could not make group %u", g->zc->me, g->number);
	zcast_group_fail(g, why);
	zcast_group_end(g);
}

void zcast_group_free(struct zipcast_group *g)
{
	zcast_message_drop(&g->message);
	drop_queue(g);
	free(g->member);
	free(g->site);
	free(g->by_node);
	free(g);
}
