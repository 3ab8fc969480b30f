/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of groups, and answers for groups that are over; see used.h. */
#include "zipcast/used.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zused_free(struct used *u)
{
	if (u)
		free(u->others);
	free(u);
}

static struct used *make(const struct zipcast_group *g)
{
	struct used *u = malloc(sizeof(*u));
	if (!u)
		return NULL;
	*u = (struct used){.number = g->number, .end = UINT64_MAX, .others = malloc(g->nmembers * sizeof(*u->others))};
	if (!u->others) {
		free(u);
		return NULL;
	}
	return u;
}

int zused_reserve(struct zipcast_group *g, struct zerr *err)
{
	struct zipcast *zc = g->zc;
	struct used *u, *mine = make(g);
	if (!mine)
		return -ENOMEM;
	pthread_mutex_lock(&zc->lock);
	HASH_FIND(hh, zc->used, &g->number, sizeof(g->number), u);
	if (!u)
		HASH_ADD(hh, zc->used, number, sizeof(mine->number), mine);
	const bool added = !u && mine->hh.tbl;
	pthread_mutex_unlock(&zc->lock);
	if (added)
		return 0;
	zused_free(mine);
	return u ? zerr_set(err, -EEXIST, "group number %u was used before", g->number) : -ENOMEM;
}

static void free_others_if_none(struct used *u)
{
	if (u->nothers > 0)
		return;
	free(u->others);
	u->others = NULL;
}

static void strike_off(struct used *u, uint32_t number)
{
	for (uint32_t i = 0; i < u->nothers; i++)
		if (u->others[i] == number)
			u->others[i--] = u->others[--u->nothers];
	free_others_if_none(u);
}

/* This node may be the only way between some of the others. A text is passed on as far as they read it. */
static void pass_failure_on(struct zipcast *zc, struct used *u, const struct node *from, const struct zwire_env *env,
	const char *why)
{
	struct zwire_env out = {.kind = ZWIRE_FAIL, .src = zc->me, .comm = env->comm, .tag = env->tag};
	out.len = env->len < ZIPCAST_WHY_BYTES ? env->len : ZIPCAST_WHY_BYTES - 1;
	u->failed = true;
	u->suspect = env->tag;
	strike_off(u, from->number);
	while (u->nothers > 0) {
		struct node *n = &zc->node[u->others[--u->nothers]];
		out.dst = n->number;
		znode_tell(n, &out, why);
	}
	free_others_if_none(u);
}

static void tell_end(struct node *n, const struct used *u)
{
	const struct zwire_env out = {.kind = ZWIRE_LEAVE,
		.src = n->zc->me,
		.dst = n->number,
		.comm = u->number,
		.tag = (int32_t)u->without,
		.seq = ZWIRE_LEAVE_END,
		.xfer = u->end,
		.offset = u->end_barriers};
	znode_tell(n, &out, NULL);
}

/* The root has ended the group since this node left. */
static void pass_end_on(struct zipcast *zc, struct used *u, const struct zwire_env *env)
{
	if (env->seq != ZWIRE_LEAVE_END || u->failed || u->end != UINT64_MAX)
		return;
	u->end = env->xfer;
	u->end_barriers = env->offset;
	for (uint32_t i = 0; i < u->nothers; i++)
		tell_end(&zc->node[u->others[i]], u);
}

static void answer_ready(struct node *n, const struct used *u)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zwire_env out = {.kind = u->failed ? ZWIRE_FAIL : ZWIRE_LEAVE,
		.src = n->zc->me,
		.dst = n->number,
		.comm = u->number,
		.tag = u->failed ? u->suspect : (int32_t)u->without,
		.xfer = u->last};
	if (u->failed)
		out.len = (uint32_t)snprintf(why, sizeof(why), "group %u had failed at node %u", u->number, n->zc->me);
	if (u->failed || u->last < u->end)
		znode_tell(n, &out, why);
	if (!u->failed && u->end != UINT64_MAX)
		tell_end(n, u);
}

bool zused_hear(struct node *n, const struct zwire_env *env, const char *text)
{
	struct used *u;
	uint32_t number = (uint32_t)env->comm;
	pthread_mutex_lock(&n->zc->lock);
	HASH_FIND(hh, n->zc->used, &number, sizeof(number), u);
	pthread_mutex_unlock(&n->zc->lock);
	if (!u || !u->over)
		return false;
	if (env->kind == ZWIRE_READY)
		answer_ready(n, u);
	else if (env->kind == ZWIRE_LEAVE) {
		strike_off(u, n->number);
		pass_end_on(n->zc, u, env);
	} else if (!u->failed)
		pass_failure_on(n->zc, u, n, env, text);
	return true;
}

void zused_note(const struct zipcast_group *g, bool failed)
{
	struct zipcast *zc = g->zc;
	struct used *u;
	pthread_mutex_lock(&zc->lock);
	HASH_FIND(hh, zc->used, &g->number, sizeof(g->number), u);
	pthread_mutex_unlock(&zc->lock);
	u->over = true;
	u->failed = failed;
	u->suspect = zgroup_suspect_tag(g, atomic_load(&g->suspect));
	u->end = g->closed ? g->end : UINT64_MAX;
	u->end_barriers = g->end_barriers;
	u->last = g->message.number;
	u->without = zgroup_leaves_without(g);
	for (uint32_t i = 0; i < g->nmembers && !failed; i++)
		if (g->member[i].node && g->member[i].neighbour && g->member[i].last == UINT64_MAX)
			u->others[u->nothers++] = g->member[i].node->number;
	free_others_if_none(u);
}
