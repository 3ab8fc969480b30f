/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups in the context's thread: beginning them, and what members tell each other: READY for the next message, so that
 * nothing is sent before there is memory for it; FAIL, which every member hands on, so that all hear of it; and LEAVE,
 * after which the next message is the failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipcast/context.h"

/* --- telling and hearing --- */

bool zcast_hears(const struct member *m)
{
	return m->node && m->peer && m->node->link.zlink;
}

/* How ready we are for a message, to one member. */
struct readiness {
	struct zwire_env env;
	const uint8_t *key;
	bool all; /* not just for its first block */
};

/* False: there is nothing to say to it now. Who can write to the message's memory hears of it when that is there; only
 * who sends the first block hears before. */
static bool find_readiness(struct member *m, struct readiness *r)
{
	const struct zipcast_group *g = m->group;
	if (g->me == 0)
		return false;
	const bool remote = zcast_remote_wanted(m);
	if (!g->message.active && remote) {
		r->all = false;
		r->env.flags = ZWIRE_F_ONE_SIDED;
		r->env.offset = m->opens == OPENS_SINGLE ? 1 : UINT64_MAX;
		return m->opens != OPENS_NONE && m->told != r->env.xfer;
	}
	r->all = true;
	if (m->told == r->env.xfer && m->told_all)
		return false;
	if (g->message.active && remote && m->due > 0 && zcast_remote_expose(m)) {
		r->env.flags = ZWIRE_F_ONE_SIDED;
		r->env.len = ZRMA_KEY_BYTES;
		r->key = m->exposure.key;
	}
	return true;
}

void zcast_say_ready(struct zipcast_group *g)
{
	g->untold = false;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		const struct zwire_env greeting = {.kind = ZWIRE_READY,
			.src = g->zc->me,
			.dst = m->node ? m->node->number : 0,
			.comm = g->number,
			.tag = (int32_t)g->definition};
		struct readiness r = {.env = greeting};
		r.env.xfer = g->message.number + !g->message.active;
		if (!zcast_hears(m))
			continue;
		const bool is = find_readiness(m, &r);
		if (!is && m->greeted)
			continue;
		if (zcast_node_post(m->node, is ? &r.env : &greeting, r.key) != 0) {
			g->untold = true;
			continue;
		}
		m->greeted = true;
		if (is) {
			m->told = r.env.xfer;
			m->told_all = r.all;
		}
	}
}

void zcast_tell_all(struct zipcast_group *g, struct zwire_env *env, const char *text)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (!zcast_hears(m))
			continue;
		env->dst = m->node->number;
		zcast_node_tell(m->node, env, text);
	}
}

uint32_t zcast_leaves_without(const struct zipcast_group *g)
{
	return g->leaver && g->leaver->last <= g->message.number ? g->leaver->without : g->zc->me;
}

/* --- hearing --- */

static void keep_early(struct node *n, const struct zwire_env *env, const void *payload)
{
	struct early *e = malloc(sizeof(*e));
	if (!e) {
		n->speechless = true;
		return;
	}
	*e = (struct early){.next = n->early, .env = *env};
	if (env->kind == ZWIRE_READY && env->len > 0)
		memcpy(e->key, payload, sizeof(e->key));
	n->early = e;
	n->nearly++;
}

/* It may have connected too late to hear of it. */
static void answer_failed(const struct zipcast_group *g, struct node *n)
{
	const struct zwire_env env = {.kind = ZWIRE_FAIL,
		.src = g->zc->me,
		.dst = n->number,
		.comm = g->number,
		.len = (uint32_t)strlen(g->why)};
	if (!g->leaving)
		zcast_node_tell(n, &env, g->why);
}

static void refuse_stranger(struct zipcast_group *g, struct node *n)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u takes itself for a member of group %u", n->number, g->number);
	zcast_group_fail(g, why);
	answer_failed(g, n);
}

static void hear_ready(struct zipcast_group *g, struct member *m, const struct zwire_env *env, const uint8_t *key)
{
	char why[ZIPCAST_WHY_BYTES];
	if ((uint32_t)env->tag != g->definition) {
		snprintf(why, sizeof(why), "node %u made group %u with other members, sites, algorithm or block size",
			m->node->number, g->number);
		zcast_group_fail(g, why);
		if (!m->peer)
			answer_failed(g, m->node);
		return;
	}
	if (env->xfer > m->ready || (env->xfer == m->ready && m->first_only)) {
		m->ready = env->xfer;
		m->first_only = env->flags & ZWIRE_F_ONE_SIDED && env->len == 0;
		m->first_of = env->offset;
	}
	if (env->len > 0) {
		m->key_for = env->xfer;
		memcpy(m->key, key, sizeof(m->key));
	}
	zcast_runnable(g);
}

bool zcast_group_lacks(struct zipcast_group *g, uint64_t message)
{
	if (!g->leaver || g->leaver->last >= message)
		return false;
	zcast_group_fail_without(g, true);
	return true;
}

static void member_lost(struct member *m, const char *why)
{
	struct zipcast_group *g = m->group;
	const uint64_t have = g->message.number - g->message.active;
	if (atomic_load(&g->failed))
		return;
	if (m->last == UINT64_MAX || m->last < g->message.number)
		zcast_group_fail(g, why);
	else if (have < m->last && (g->cut_off == 0 || m->last < g->cut_off))
		g->cut_off = m->last; /* what there is until then comes without it */
	else if (have >= m->last && why)
		zcast_group_cut_off(g);
}

void zcast_members_lost(struct node *n, const char *why)
{
	struct list *node, *after;
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		if (m->peer)
			member_lost(m, why);
	}
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
	if (m)
		m->here = true;
	if (m && env->kind != ZWIRE_READY)
		m->over = true;
	if (!g || g->ended) {
		if (!zcast_used_hears(n, env, payload))
			keep_early(n, env, payload);
	} else if (!m) {
		refuse_stranger(g, n);
	} else if (env->kind == ZWIRE_READY) {
		if (atomic_load(&g->failed))
			answer_failed(g, n);
		else
			hear_ready(g, m, env, payload);
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

static uint32_t number_of(const struct member *m)
{
	return m->node ? m->node->number : m->group->zc->me;
}

struct member *zcast_member_find(struct zipcast_group *g, const struct node *n)
{
	uint32_t low = 0, high = g->nmembers;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (number_of(&g->member[g->by_node[middle]]) < n->number)
			low = middle + 1;
		else
			high = middle;
	}
	struct member *m = low < g->nmembers ? &g->member[g->by_node[low]] : NULL;
	return m && m->node == n ? m : NULL;
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
		if (e->env.comm != g->number) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		m->node->nearly--;
		m->here = true;
		m->over |= e->env.kind != ZWIRE_READY;
		if (e->env.kind == ZWIRE_FAIL)
			fail_as_told(g, m);
		else if (atomic_load(&g->failed))
			;
		else if (e->env.kind == ZWIRE_READY)
			hear_ready(g, m, &e->env, e->key);
		else
			hear_leave(g, m, e->env.xfer, (uint32_t)e->env.tag);
		free(e);
	}
}

static void hear_strangers(struct zipcast_group *g)
{
	for (uint32_t i = 0; i < g->zc->nup; i++) {
		struct node *n = g->zc->up[i];
		const struct early *e = n->early;
		while (e && e->env.comm != g->number)
			e = e->next;
		if (e && !zcast_member_find(g, n))
			refuse_stranger(g, n);
	}
}

void zcast_group_deadline(struct zipcast_group *g, int64_t deadline_ms)
{
	g->zc->ndeadlines += (deadline_ms != 0) - (g->deadline_ms != 0);
	g->deadline_ms = deadline_ms;
}

int zcast_group_begin(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	HASH_ADD(hh, zc->groups, number, sizeof(g->number), g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			list_add(&g->member[i].node->memberships, &g->member[i].of_node);
	zcast_group_deadline(g, zclock_ms() + zc->timeout_ms);
	g->untold = true;
	hear_strangers(g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			hear_early(g, &g->member[i]);
	for (uint32_t i = 0; i < g->nmembers && !atomic_load(&g->failed); i++)
		if (g->member[i].node && g->member[i].peer && !zcast_bridge_hopes(g->member[i].node))
			zcast_group_fail(g, g->member[i].node->refused);
	zcast_runnable(g);
	return g->hh.tbl ? 0 : -ENOMEM;
}

void zcast_group_look(struct zipcast_group *g, int64_t now_ms)
{
	char why[ZIPCAST_WHY_BYTES];
	for (uint32_t i = 0; i < g->nmembers && !atomic_load(&g->failed); i++) {
		const struct member *m = &g->member[i];
		if (!m->node || !m->peer || m->here)
			continue;
		if (now_ms < g->deadline_ms)
			return;
		if (m->node->link.zlink)
			snprintf(why, sizeof(why), "node %u (%.100s) has not made group %u within %d ms",
				m->node->number, m->node->address, g->number, g->zc->timeout_ms);
		else
			snprintf(why, sizeof(why), "node %u (%.100s) has not connected within %d ms", m->node->number,
				m->node->address, g->zc->timeout_ms);
		zcast_group_fail(g, why);
		return;
	}
	if (!atomic_load(&g->failed))
		zcast_group_deadline(g, 0);
}
