/* SPDX-License-Identifier: BSD-3-Clause */
/* READY, FAIL and LEAVE, as they come or as they were kept; see hear.h. */
#include "zipcast/hear.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/barrier.h"
#include "zipcast/end.h"
#include "zipcast/used.h"

#define EARLY_MAX 65536 /* early words of one node; a node that sends more is broken */

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

static void tell_failed(const struct zipcast_group *g, struct node *n, const char *why)
{
	const struct zwire_env env = {.kind = ZWIRE_FAIL,
		.src = g->zc->me,
		.dst = n->number,
		.comm = g->number,
		.tag = zgroup_suspect_tag(g, atomic_load(&g->suspect)),
		.len = (uint32_t)strlen(why)};
	znode_tell(n, &env, why);
}

/* The node may have connected too late to hear of the failure, or of the end. */
static void answer_over(const struct zipcast_group *g, struct node *n)
{
	const struct zwire_env end = {.kind = ZWIRE_LEAVE,
		.src = g->zc->me,
		.dst = n->number,
		.comm = g->number,
		.tag = (int32_t)g->zc->me,
		.seq = ZWIRE_LEAVE_END,
		.xfer = g->message.number,
		.offset = g->end_barriers};
	if (g->closed)
		znode_tell(n, &end, NULL);
	else if (!g->leaving)
		tell_failed(g, n, g->why);
}

static void refuse_stranger(struct zipcast_group *g, struct node *n)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u takes itself for a member of group %u", n->number, g->number);
	zend_fail(g, ZIPCAST_NOBODY, why);
	tell_failed(g, n, g->closed ? why : g->why);
}

static void refuse_definition(struct zipcast_group *g, struct member *m, const char *why)
{
	zend_fail(g, ZIPCAST_NOBODY, why);
	if (!m->neighbour)
		answer_over(g, m->node);
}

static void hear_ready(struct zipcast_group *g, struct member *m, const struct zwire_env *env, const uint8_t *key)
{
	char why[ZIPCAST_WHY_BYTES];
	if (env->ack != ZWIRE_CAST_VERSION) {
		snprintf(why, sizeof(why),
			"nodes %u and %u have different releases: they speak versions %llu and %u of zipcast",
			m->node->number, g->zc->me, (unsigned long long)env->ack, ZWIRE_CAST_VERSION);
		refuse_definition(g, m, why);
		return;
	}
	if ((uint32_t)env->tag != g->definition) {
		snprintf(why, sizeof(why), "node %u made group %u with other members, sites, algorithm or block size",
			m->node->number, g->number);
		refuse_definition(g, m, why);
		return;
	}
	if (env->flags & ZWIRE_F_SYNC) {
		zbarrier_hear(g, m, env);
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
	zgroup_set_runnable(g);
}

/* A member that has left may pass on an end that it does not reach: the first of its words about itself counts. */
static void hear_leave(struct zipcast_group *g, struct member *m, const struct zwire_env *env)
{
	char why[ZIPCAST_WHY_BYTES];
	if (env->seq == ZWIRE_LEAVE_END && g->me == 0) {
		snprintf(why, sizeof(why), "node %u has ended group %u, and is not its root", m->node->number,
			g->number);
		zend_fail(g, zgroup_place(m), why);
		return;
	}
	if (env->xfer < m->last) {
		m->last = env->xfer;
		m->without = (uint32_t)env->tag;
	}
	if (!g->leaver || m->last < g->leaver->last)
		g->leaver = m;
	if (env->seq == ZWIRE_LEAVE_END && g->end == UINT64_MAX) {
		g->end = env->xfer;
		g->end_barriers = env->offset;
	}
	/* It lacks the message under way, or one that is complete here and will never be complete there, or one that
	 * will still come. */
	if (zend_lacks_member(g, g->message.number) || (g->end != UINT64_MAX && zend_lacks_member(g, g->end)))
		return;
	zend_reach(g);
	if (g->queue || g->entries)
		zgroup_set_runnable(g); /* to find that the next message or barrier lacks it */
}

static void fail_as_told(struct zipcast_group *g, const struct member *m, const struct zwire_env *env)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has said that group %u has failed", m->node->number, g->number);
	zend_fail(g, zgroup_suspect_place(g, env->tag), why);
}

int zhear_word(struct node *n, const struct zwire_env *env, const void *payload)
{
	struct zipcast_group *g = zgroup_of(n->zc, env);
	struct member *m = g ? zgroup_find_member(g, n) : NULL;
	char why[ZIPCAST_WHY_BYTES];
	if (m)
		m->here = true;
	if (m && env->kind != ZWIRE_READY)
		m->over = true;
	if (!g || g->ended) {
		if (!zused_hear(n, env, payload))
			keep_early(n, env, payload);
	} else if (!m) {
		refuse_stranger(g, n);
	} else if (env->kind == ZWIRE_READY) {
		if (atomic_load(&g->failed))
			answer_over(g, n);
		else
			hear_ready(g, m, env, payload);
	} else if (env->kind == ZWIRE_LEAVE) {
		if (!atomic_load(&g->failed))
			hear_leave(g, m, env);
	} else {
		int len = env->len < sizeof(why) ? (int)env->len : (int)sizeof(why) - 1;
		snprintf(why, sizeof(why), "%.*s", len, env->len ? (const char *)payload : "");
		for (char *c = why; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
		if (why[0])
			zend_fail(g, zgroup_suspect_place(g, env->tag), why);
		else
			fail_as_told(g, m, env);
	}
	return n->nearly > EARLY_MAX ? -EPROTO : 0;
}

/* --- words that were kept --- */

void zhear_early(struct zipcast_group *g, struct member *m)
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
			fail_as_told(g, m, &e->env);
		else if (atomic_load(&g->failed))
			;
		else if (e->env.kind == ZWIRE_READY)
			hear_ready(g, m, &e->env, e->key);
		else
			hear_leave(g, m, &e->env);
		free(e);
	}
}

void zhear_strangers(struct zipcast_group *g)
{
	for (uint32_t i = 0; i < g->zc->nup; i++) {
		struct node *n = g->zc->up[i];
		const struct early *e = n->early;
		while (e && e->env.comm != g->number)
			e = e->next;
		if (e && !zgroup_find_member(g, n))
			refuse_stranger(g, n);
	}
}
