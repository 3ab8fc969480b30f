/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of groups that there were: none is used twice, and what is still said of a group that is over here is
 * answered, so that nobody waits for us.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/context.h"

void zcast_used_free(struct used *u)
{
	if (u)
		free(u->peers);
	free(u);
}

static struct used *make(const struct zipcast_group *g)
{
	struct used *u = malloc(sizeof(*u));
	if (!u)
		return NULL;
	*u = (struct used){.number = g->number, .peers = malloc(g->nmembers * sizeof(*u->peers))};
	if (!u->peers) {
		free(u);
		return NULL;
	}
	return u;
}

int zcast_used_reserve(struct zipcast_group *g, struct zerr *err)
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
	zcast_used_free(mine);
	return u ? zerr_set(err, -EEXIST, "group number %u was used before", g->number) : -ENOMEM;
}

static void forget_peers(struct used *u)
{
	if (u->npeers > 0)
		return;
	free(u->peers);
	u->peers = NULL;
}

static void strike_peer(struct used *u, uint32_t number)
{
	for (uint32_t i = 0; i < u->npeers; i++)
		if (u->peers[i] == number)
			u->peers[i--] = u->peers[--u->npeers];
	forget_peers(u);
}

/* Between some of the others we may be the only way. */
static void pass_failure_on(struct zipcast *zc, struct used *u, const struct node *from, const struct zwire_env *env,
	const char *why)
{
	struct zwire_env out = {.kind = ZWIRE_FAIL, .src = zc->me, .comm = env->comm, .len = env->len};
	u->failed = true;
	strike_peer(u, from->number);
	while (u->npeers > 0) {
		struct node *n = &zc->node[u->peers[--u->npeers]];
		out.dst = n->number;
		zcast_node_tell(n, &out, why);
	}
	forget_peers(u);
}

static void answer_ready(struct node *n, const struct used *u)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zwire_env out = {.kind = u->failed ? ZWIRE_FAIL : ZWIRE_LEAVE,
		.src = n->zc->me,
		.dst = n->number,
		.comm = u->number,
		.tag = (int32_t)u->without,
		.xfer = u->last};
	if (u->failed)
		out.len = (uint32_t)snprintf(why, sizeof(why), "group %u had failed at node %u", u->number, n->zc->me);
	zcast_node_tell(n, &out, why);
}

bool zcast_used_hears(struct node *n, const struct zwire_env *env, const char *text)
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
	else if (env->kind == ZWIRE_LEAVE)
		strike_peer(u, n->number);
	else if (!u->failed)
		pass_failure_on(n->zc, u, n, env, text);
	return true;
}

void zcast_used_note(const struct zipcast_group *g, bool failed)
{
	struct zipcast *zc = g->zc;
	struct used *u;
	pthread_mutex_lock(&zc->lock);
	HASH_FIND(hh, zc->used, &g->number, sizeof(g->number), u);
	pthread_mutex_unlock(&zc->lock);
	u->over = true;
	u->failed = failed;
	u->last = g->message.number;
	u->without = zcast_leaves_without(g);
	for (uint32_t i = 0; i < g->nmembers && !failed; i++)
		if (zcast_hears(&g->member[i]) && g->member[i].last == UINT64_MAX)
			u->peers[u->npeers++] = g->member[i].node->number;
	forget_peers(u);
}
