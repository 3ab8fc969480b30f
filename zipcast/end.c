/* SPDX-License-Identifier: BSD-3-Clause */
/* Failing, coming to rest and being destroyed; see end.h. */
#include "zipcast/end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipcast/command.h"
#include "zipcast/remote.h"
#include "zipcast/used.h"

#define REST_MS 2000 /* until writes are over; then the links break over which they still go on */
#define DRAIN_MS 100 /* until our own writes are over, in a callback: all other groups wait meanwhile */

static void tell_failure(struct zipcast_group *g, const char *why)
{
	struct zwire_env env = {.kind = ZWIRE_FAIL,
		.src = g->zc->me,
		.comm = g->number,
		.tag = zgroup_suspect_tag(g, atomic_load(&g->suspect)),
		.len = (uint32_t)strlen(why)};
	zgroup_tell_all(g, &env, why);
}

static void tell_leaving(struct zipcast_group *g)
{
	g->leaving = true;
	struct zwire_env env = {.kind = ZWIRE_LEAVE,
		.src = g->zc->me,
		.comm = g->number,
		.tag = (int32_t)(g->closed ? g->zc->me : zgroup_leaves_without(g)),
		.seq = g->closed ? ZWIRE_LEAVE_END : 0,
		.xfer = g->message.number,
		.offset = g->end_barriers};
	zgroup_tell_all(g, &env, NULL);
}

/* The rest of a block that is arriving goes elsewhere. */
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

/* Nothing new begins; transfers under way come to rest. */
static void stop(struct zipcast_group *g)
{
	zmessage_drop(&g->message);
	zgroup_drop_queue(g);
	unplace(g);
	list_del(&g->runnable);
	zgroup_set_deadline(g, zclock_ms() + REST_MS);
}

/* --- failing --- */

static void fail(struct zipcast_group *g, uint32_t suspect, const char *why, bool tell)
{
	if (g->ended || !why || atomic_exchange(&g->failed, true))
		return;
	atomic_store(&g->suspect, suspect);
	snprintf(g->why, sizeof(g->why), "%s", why);
	stop(g);
	if (tell)
		tell_failure(g, g->why);
	list_add(&g->zc->ending, &g->runnable);
}

void zend_fail(struct zipcast_group *g, uint32_t suspect, const char *why)
{
	fail(g, suspect, why, true);
}

/* A member is missing for the next message. tell: the others do not know that. */
static void fail_without(struct zipcast_group *g, bool tell)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has destroyed group %u", g->leaver->without, g->number);
	fail(g, zgroup_suspect_place(g, (int32_t)(g->leaver->without + 1)), why, tell);
}

bool zend_lacks_member(struct zipcast_group *g, uint64_t message)
{
	if (!g->leaver || g->leaver->last >= message)
		return false;
	fail_without(g, true);
	return true;
}

/* Other members may be in the middle of the last message: to them this node leaves. */
void zend_cut_off(struct zipcast_group *g)
{
	tell_leaving(g);
	fail_without(g, false);
}

static void lose_member(struct member *m, const char *why)
{
	struct zipcast_group *g = m->group;
	const uint64_t have = g->message.number - g->message.active;
	if (atomic_load(&g->failed))
		return;
	if (m->last == UINT64_MAX || m->last < g->message.number)
		zend_fail(g, zgroup_place(m), why);
	else if (have < m->last && (g->cut_off == 0 || m->last < g->cut_off))
		g->cut_off = m->last; /* the messages until then come without it */
	else if (have >= m->last && why)
		zend_cut_off(g);
}

void zend_without_node(struct node *n, const char *why)
{
	struct list *node, *after;
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		if (m->neighbour)
			lose_member(m, why);
	}
}

/* --- coming to the end --- */

void zend_reach(struct zipcast_group *g)
{
	const struct message *m = &g->message;
	if (g->end == UINT64_MAX || m->active || m->number < g->end || g->passed < g->end_barriers || g->ended ||
		atomic_exchange(&g->failed, true))
		return;
	g->closed = true;
	stop(g);
	tell_leaving(g);
	list_add(&g->zc->ending, &g->runnable);
}

void zend_on_end(struct zipcast_group *g, void (*on_end)(void *arg))
{
	g->on_end = on_end;
	if (!g->closed || !g->released || g->ended)
		return;
	list_del(&g->runnable);
	list_add(&g->zc->ending, &g->runnable);
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
		zcommand_done(g->zc, g->destroyer);
}

static void tell_application(struct zipcast_group *g)
{
	if (g->ended || g->told_application || (g->closed && !g->on_end))
		return;
	g->told_application = true;
	if (g->closed)
		g->on_end(g->events.arg);
	else if (g->events.failed)
		g->events.failed(g->events.arg, g->why);
}

/* Does nobody reach the group's memory any more? now: close it to all that still do. */
static bool is_at_rest(struct zipcast_group *g, bool now)
{
	bool open = false;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (m->exposed && (m->over || now))
			zremote_conceal(m);
		open |= m->exposed;
	}
	return !open && g->writes == 0;
}

/* False: the group still waits. */
static bool settle(struct zipcast_group *g)
{
	if (!g->released) {
		const int64_t now_ms = zclock_ms();
		const bool late = now_ms >= g->deadline_ms;
		if (!is_at_rest(g, late)) {
			if (late) {
				zremote_give_up(g);
				zgroup_set_deadline(g, now_ms + REST_MS);
			}
			return false;
		}
		g->released = true;
		zgroup_set_deadline(g, 0);
		zremote_unpin(g);
	}
	tell_application(g);
	if (g->destroyer && !g->ended)
		zend_destroy(g);
	else if (g->ended && !g->gone)
		leave(g);
	return true;
}

bool zend_settle(struct zipcast *zc)
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

bool zend_has_unsent(const struct zipcast_group *g)
{
	return g->me == 0 && !atomic_load(&g->failed) &&
	       (g->message.active || g->entries || atomic_load(&g->accepted) != g->message.number);
}

void zend_send_rest(struct zipcast_group *g)
{
	g->events = (struct zipcast_events){.arg = NULL};
	g->on_end = NULL;
	g->all_queued = true;
	zgroup_set_runnable(g);
}

/* Other members may wait for blocks that this node was to pass on, or for messages that it was to send. */
static void tell_destroyed(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has destroyed group %u %s", g->zc->me, g->number,
		g->message.active ? "during a message"
		: g->entries	  ? "during a barrier"
				  : "before it had sent all messages");
	atomic_store(&g->suspect, g->me);
	tell_failure(g, why);
}

void zend_destroy(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	if (g->ended)
		return;
	const bool unsent = zend_has_unsent(g) || g->message.active;
	const bool first = !atomic_exchange(&g->failed, true);
	bool failed = !first && !g->leaving;
	if (first && unsent) {
		tell_destroyed(g);
		failed = true;
	} else if (first) {
		g->closed = g->me == 0;
		g->end = g->closed ? g->message.number : g->end;
		g->end_barriers = g->passed;
		tell_leaving(g);
	}
	g->ended = true;
	zused_note(g, failed);
	if (first)
		stop(g);
	list_del(&g->runnable);
	if (!settle(g))
		list_add(&zc->ending, &g->runnable);
}

void zend_destroy_now(struct zipcast_group *g)
{
	zend_destroy(g);
	if (g->gone)
		return;
	is_at_rest(g, true);
	if (!zremote_drain(g, DRAIN_MS)) {
		zremote_give_up(g);
		zremote_drain(g, REST_MS); /* a device reports them at once */
	}
	settle(g);
}

void zend_abandon(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	g->events.failed = NULL;
	snprintf(why, sizeof(why), "node %u could not make group %u", g->zc->me, g->number);
	zend_fail(g, g->me, why);
	zend_destroy(g);
}

void zend_bury(struct zipcast *zc)
{
	while (!list_empty(&zc->ended)) {
		struct list *node = zc->ended.next;
		list_del(node);
		zgroup_free(list_entry(node, struct zipcast_group, runnable));
	}
}
