/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups in the context's thread: beginning and ending them, and what members tell each other: READY for the next
 * message, so that nothing is sent before there is memory for it; FAIL, which every member hands on, so that all hear
 * of it; and LEAVE, after which the next message is the failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "context.h"

/* --- telling and hearing --- */

bool zcast_hears(const struct member *m)
{
	return m->node && m->peer && m->node->link.zlink;
}

void zcast_say_ready(struct zipcast_group *g)
{
	struct zwire_env env = {.kind = ZWIRE_READY,
		.src = g->zc->me,
		.comm = g->number,
		.tag = (int32_t)g->definition,
		.xfer = g->message.number + !g->message.active};
	g->untold = false;
	for (uint32_t i = 0; g->me != 0 && i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (!zcast_hears(m) || m->told == env.xfer)
			continue;
		env.dst = m->node->number;
		if (zcast_node_post(m->node, &env, NULL) == 0)
			m->told = env.xfer;
		else
			g->untold = true;
	}
}

static void tell_all(struct zipcast_group *g, struct zwire_env *env, const char *text)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (!zcast_hears(m))
			continue;
		env->dst = m->node->number;
		zcast_node_tell(m->node, env, text);
	}
}

static void tell_failure(struct zipcast_group *g, const char *why)
{
	struct zwire_env env = {.kind = ZWIRE_FAIL, .src = g->zc->me, .comm = g->number, .len = (uint32_t)strlen(why)};
	tell_all(g, &env, why);
}

uint32_t zcast_leaves_without(const struct zipcast_group *g)
{
	return g->leaver && g->leaver->last <= g->message.number ? g->leaver->without : g->zc->me;
}

static void tell_leaving(struct zipcast_group *g)
{
	g->leaving = true;
	struct zwire_env env = {.kind = ZWIRE_LEAVE,
		.src = g->zc->me,
		.comm = g->number,
		.tag = (int32_t)zcast_leaves_without(g),
		.xfer = g->message.number};
	tell_all(g, &env, NULL);
}

/* The application gets its memory back: nothing may arrive in it any more. */
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

static void fail(struct zipcast_group *g, const char *why, bool tell)
{
	if (g->ended || !why || atomic_exchange(&g->failed, true))
		return;
	zcast_message_drop(&g->message);
	drop_queue(g);
	unplace(g);
	list_del(&g->runnable);
	g->deadline_ms = 0;
	if (tell)
		tell_failure(g, why);
	if (g->events.failed)
		g->events.failed(g->events.arg, why);
}

void zcast_group_fail(struct zipcast_group *g, const char *why)
{
	fail(g, why, true);
}

/* --- hearing --- */

static void keep_early(struct node *n, const struct zwire_env *env)
{
	struct early *e = malloc(sizeof(*e));
	if (!e) {
		n->speechless = true;
		return;
	}
	*e = (struct early){.next = n->early,
		.kind = env->kind,
		.group = (uint32_t)env->comm,
		.word = (uint32_t)env->tag,
		.message = env->xfer};
	n->early = e;
	n->nearly++;
}

static void hear_ready(struct zipcast_group *g, struct member *m, uint64_t message, uint32_t definition)
{
	char why[ZIPCAST_WHY_BYTES];
	if (definition != g->definition) {
		snprintf(why, sizeof(why), "node %u made group %u with other members, sites, algorithm or block size",
			m->node->number, g->number);
		zcast_group_fail(g, why);
		return;
	}
	if (message > m->ready)
		m->ready = message;
	zcast_runnable(g);
}

static void fail_without(struct zipcast_group *g, bool tell)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has destroyed group %u", g->leaver->without, g->number);
	fail(g, why, tell);
}

/* Others may be in the middle of the last message: for them it is as if we left. */
void zcast_group_cut_off(struct zipcast_group *g)
{
	tell_leaving(g);
	fail_without(g, false);
}

bool zcast_group_lacks(struct zipcast_group *g, uint64_t message)
{
	if (!g->leaver || g->leaver->last >= message)
		return false;
	fail_without(g, true);
	return true;
}

void zcast_member_lost(struct member *m, const char *why)
{
	struct zipcast_group *g = m->group;
	const uint64_t have = g->message.number - g->message.active;
	if (m->last == UINT64_MAX || m->last < g->message.number)
		zcast_group_fail(g, why);
	else if (have < m->last && (g->cut_off == 0 || m->last < g->cut_off))
		g->cut_off = m->last; /* what there is until then comes without it */
	else if (have >= m->last && why)
		zcast_group_cut_off(g);
}

static void hear_leave(struct zipcast_group *g, struct member *m, uint64_t last, uint32_t without)
{
	m->last = last;
	m->without = without;
	if (!g->leaver || last < g->leaver->last)
		g->leaver = m;
	/* The message under way, or one that is complete here and will never be there. */
	if (!zcast_group_lacks(g, g->message.number) && g->queue)
		zcast_runnable(g); /* the next one cannot be */
}

void zcast_group_hears(struct node *n, const struct zwire_env *env, const void *payload)
{
	struct zipcast_group *g = env->comm <= UINT32_MAX ? zcast_group_find(n->zc, (uint32_t)env->comm) : NULL;
	struct member *m = g ? zcast_member_find(g, n) : NULL;
	char why[ZIPCAST_WHY_BYTES];
	if (!g) {
		if (!zcast_used_hears(n, env, payload))
			keep_early(n, env);
	} else if (!m) {
		snprintf(why, sizeof(why), "node %u takes itself for a member of group %u", n->number, g->number);
		zcast_group_fail(g, why);
	} else if (env->kind == ZWIRE_READY) {
		if (!atomic_load(&g->failed))
			hear_ready(g, m, env->xfer, (uint32_t)env->tag);
	} else if (env->kind == ZWIRE_LEAVE) {
		if (!atomic_load(&g->failed))
			hear_leave(g, m, env->xfer, (uint32_t)env->tag);
	} else {
		int len = env->len < sizeof(why) ? (int)env->len : (int)sizeof(why) - 1;
		snprintf(why, sizeof(why), "%.*s", len, env->len ? (const char *)payload : "");
		for (char *c = why; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
		zcast_group_fail(g, why);
	}
}

/* --- finding --- */

struct zipcast_group *zcast_group_find(struct zipcast *zc, uint32_t number)
{
	struct zipcast_group *g;
	HASH_FIND(hh, zc->groups, &number, sizeof(number), g);
	return g;
}

struct member *zcast_member_find(struct zipcast_group *g, const struct node *n)
{
	struct list *node, *after;
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		if (m->group == g)
			return m;
	}
	return NULL;
}

/* --- making and ending, in the context's thread --- */

static void fail_as_told(struct zipcast_group *g, const struct member *m)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has said that group %u has failed", m->node->number, g->number);
	zcast_group_fail(g, why);
}

static void hear_early(struct zipcast_group *g, struct member *m)
{
	for (struct early **at = &m->node->early; *at;) {
		struct early *e = *at;
		if (e->group != g->number) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		m->node->nearly--;
		if (e->kind == ZWIRE_FAIL)
			fail_as_told(g, m);
		else if (atomic_load(&g->failed))
			;
		else if (e->kind == ZWIRE_READY)
			hear_ready(g, m, e->message, e->word);
		else
			hear_leave(g, m, e->message, e->word);
		free(e);
	}
}

void zcast_group_begin(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	HASH_ADD(hh, zc->groups, number, sizeof(g->number), g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			list_add(&g->member[i].node->memberships, &g->member[i].of_node);
	g->deadline_ms = zclock_ms() + zc->timeout_ms;
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			hear_early(g, &g->member[i]);
	zcast_runnable(g);
}

void zcast_group_look(struct zipcast_group *g, int64_t now_ms)
{
	char why[ZIPCAST_WHY_BYTES];
	for (uint32_t i = 0; i < g->nmembers; i++) {
		const struct member *m = &g->member[i];
		if (!m->node || !m->peer || m->node->link.zlink || m->last != UINT64_MAX)
			continue;
		if (now_ms < g->deadline_ms)
			return;
		snprintf(why, sizeof(why), "node %u (%.100s) has not connected within %d ms", m->node->number,
			m->node->address, g->zc->timeout_ms);
		zcast_group_fail(g, why);
		return;
	}
	g->deadline_ms = 0;
}

void zcast_group_end(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	if (g->ended)
		return;
	bool failed = atomic_exchange(&g->failed, true) && !g->leaving;
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
	unplace(g);
	HASH_DEL(zc->groups, g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		list_del(&g->member[i].of_node);
	list_del(&g->runnable);
	list_add(&zc->ended, &g->runnable);
}

void zcast_group_abandon(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	g->events.failed = NULL;
	snprintf(why, sizeof(why), "node %u could not make group %u", g->zc->me, g->number);
	zcast_group_begin(g);
	zcast_group_fail(g, why);
	zcast_group_end(g);
}

void zcast_group_free(struct zipcast_group *g)
{
	zcast_message_drop(&g->message);
	drop_queue(g);
	free(g->member);
	free(g->site);
	free(g);
}
