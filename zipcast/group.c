/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: making and ending them, and what members tell each other: READY for the next message, so that nothing is sent
 * before there is memory for it; FAIL, which every member hands on, so that all hear of it; and LEAVE, after which the
 * next message is the failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "context.h"

/* --- telling and hearing --- */

static bool hears(const struct member *m)
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
		if (!hears(m) || m->told == env.xfer)
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
		if (!hears(m))
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

static void tell_leaving(struct zipcast_group *g)
{
	struct zwire_env env = {.kind = ZWIRE_LEAVE, .src = g->zc->me, .comm = g->number, .xfer = g->message.number};
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

void zcast_group_fail(struct zipcast_group *g, const char *why)
{
	if (g->ended || !why || atomic_exchange(&g->failed, true))
		return;
	zcast_message_drop(&g->message);
	drop_queue(g);
	unplace(g);
	list_del(&g->runnable);
	g->deadline_ms = 0;
	tell_failure(g, why);
	if (g->events.failed)
		g->events.failed(g->events.arg, why);
}

/* --- of groups that are over --- */

void zcast_used_free(struct used *u)
{
	free(u->peers);
	free(u);
}

static void strike_peer(struct used *u, uint32_t number)
{
	for (uint32_t i = 0; i < u->npeers; i++)
		if (u->peers[i] == number)
			u->peers[i--] = u->peers[--u->npeers];
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
}

static void answer_ready(struct node *n, const struct used *u)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zwire_env out = {.kind = u->failed ? ZWIRE_FAIL : ZWIRE_LEAVE,
		.src = n->zc->me,
		.dst = n->number,
		.comm = u->number,
		.xfer = u->last};
	if (u->failed)
		out.len = (uint32_t)snprintf(why, sizeof(why), "group %u had failed at node %u", u->number, n->zc->me);
	zcast_node_tell(n, &out, why);
}

/* Of a group that there is not here. True: not any more. */
static bool is_over(struct node *n, const struct zwire_env *env, const char *text)
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
		.definition = (uint32_t)env->tag,
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

void zcast_group_fail_without(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	snprintf(why, sizeof(why), "node %u has destroyed group %u", g->leaver->node->number, g->number);
	zcast_group_fail(g, why);
}

bool zcast_group_lacks(struct zipcast_group *g, uint64_t message)
{
	if (!g->leaver || g->leaver->last >= message)
		return false;
	zcast_group_fail_without(g);
	return true;
}

void zcast_member_lost(struct member *m, const char *why)
{
	struct zipcast_group *g = m->group;
	if (m->last != UINT64_MAX && g->message.active && m->last >= g->message.number)
		g->cut_off = true; /* this message does not need it */
	else
		zcast_group_fail(g, why);
}

static void hear_leave(struct zipcast_group *g, struct member *m, uint64_t last)
{
	m->last = last;
	if (!g->leaver || last < g->leaver->last)
		g->leaver = m;
	if (g->message.active)
		zcast_group_lacks(g, g->message.number);
	else if (g->queue)
		zcast_runnable(g); /* the next message cannot be */
}

void zcast_group_hears(struct node *n, const struct zwire_env *env, const void *payload)
{
	struct zipcast_group *g = env->comm <= UINT32_MAX ? zcast_group_find(n->zc, (uint32_t)env->comm) : NULL;
	struct member *m = g ? zcast_member_find(g, n) : NULL;
	char why[ZIPCAST_WHY_BYTES];
	if (!g) {
		if (!is_over(n, env, payload))
			keep_early(n, env);
	} else if (!m) {
		snprintf(why, sizeof(why), "node %u takes itself for a member of group %u", n->number, g->number);
		zcast_group_fail(g, why);
	} else if (env->kind == ZWIRE_READY) {
		if (!atomic_load(&g->failed))
			hear_ready(g, m, env->xfer, (uint32_t)env->tag);
	} else if (env->kind == ZWIRE_LEAVE) {
		if (!atomic_load(&g->failed))
			hear_leave(g, m, env->xfer);
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
			zcast_group_fail(g, "another member says that the group has failed");
		else if (atomic_load(&g->failed))
			;
		else if (e->kind == ZWIRE_READY)
			hear_ready(g, m, e->message, e->definition);
		else
			hear_leave(g, m, e->message);
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

/* What is said of it from now on is answered by that. */
static void note_over(const struct zipcast_group *g, bool failed)
{
	struct zipcast *zc = g->zc;
	struct used *u;
	pthread_mutex_lock(&zc->lock);
	HASH_FIND(hh, zc->used, &g->number, sizeof(g->number), u);
	pthread_mutex_unlock(&zc->lock);
	u->over = true;
	u->failed = failed;
	u->last = g->message.number;
	u->peers = failed ? NULL : malloc(g->nmembers * sizeof(*u->peers));
	for (uint32_t i = 0; u->peers && i < g->nmembers; i++)
		if (hears(&g->member[i]) && g->member[i].last == UINT64_MAX)
			u->peers[u->npeers++] = g->member[i].node->number;
}

void zcast_group_end(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	if (g->ended)
		return;
	bool failed = atomic_exchange(&g->failed, true);
	if (!failed && g->message.active) {
		/* Others may be in the middle of a message that we were to pass on. */
		char why[ZIPCAST_WHY_BYTES];
		snprintf(why, sizeof(why), "node %u has destroyed group %u during a message", zc->me, g->number);
		tell_failure(g, why);
		failed = true;
	} else if (!failed) {
		tell_leaving(g);
	}
	g->ended = true;
	note_over(g, failed);
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

/* --- the application's side --- */

/* The same in all members that mean the same group: FNV-1a over what defines it. */
static uint32_t define(const struct zipcast_group *g, const uint32_t *members)
{
	uint32_t hash = 2166136261u;
	for (uint32_t i = 0; i < 2 * g->nmembers + 3; i++) {
		uint32_t word = i < g->nmembers		   ? members[i]
				: i < 2 * g->nmembers	   ? g->site ? g->site[i - g->nmembers] : 0
				: i == 2 * g->nmembers	   ? g->nmembers
				: i == 2 * g->nmembers + 1 ? (uint32_t)g->algorithm
							   : g->block_bytes;
		for (int b = 0; b < 4; b++)
			hash = (hash ^ (word >> 8 * b & 0xff)) * 16777619u;
	}
	return hash;
}

static int fill_members(struct zipcast_group *g, const uint32_t *members, struct zerr *err)
{
	struct zipcast *zc = g->zc;
	g->me = UINT32_MAX;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		if (members[i] >= zc->nnodes)
			return zerr_set(err, -EINVAL, "member %u: there is no node %u", i, members[i]);
		g->member[i] = (struct member){.group = g, .node = &zc->node[members[i]], .last = UINT64_MAX};
		if (members[i] != zc->me)
			continue;
		if (g->me != UINT32_MAX)
			return zerr_set(err, -EINVAL, "node %u is a member twice", zc->me);
		g->me = i;
		g->member[i].node = NULL;
	}
	if (g->me == UINT32_MAX)
		return zerr_set(err, -EINVAL, "this node (%u) is not a member", zc->me);
	bool *seen = calloc(zc->nnodes, sizeof(*seen)), *peer = calloc(g->nmembers, sizeof(*peer));
	struct zcast_shape shape = {g->algorithm, g->nmembers, 1, g->site};
	int rc = seen && peer ? zcast_plan_peers(&shape, g->me, peer) : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < g->nmembers; i++) {
		if (seen[members[i]])
			rc = zerr_set(err, -EINVAL, "node %u is a member twice", members[i]);
		seen[members[i]] = true;
		g->member[i].peer = peer[i];
	}
	free(seen);
	free(peer);
	return rc;
}

static int fill_group(struct zipcast_group *g, const struct zipcast_group_config *c, struct zerr *err)
{
	int algorithm = zcast_algorithm_find(c->algorithm ? c->algorithm : "pipeline");
	if (algorithm < 0)
		return zerr_set(err, -EINVAL, "there is no algorithm %.40s", c->algorithm);
	bool hybrid = algorithm == ZCAST_HYBRID_CHAIN || algorithm == ZCAST_HYBRID_PIPELINE;
	if (hybrid && !c->site)
		return zerr_set(err, -EINVAL, "%s needs to know the sites of the members", c->algorithm);
	if (c->block_bytes > ZIPCAST_BLOCK_BYTES_MAX)
		return zerr_set(err, -EINVAL, "blocks of %u bytes: %u at most", c->block_bytes,
			ZIPCAST_BLOCK_BYTES_MAX);
	g->algorithm = (enum zcast_algorithm)algorithm;
	g->number = c->number;
	g->nmembers = c->nmembers;
	g->block_bytes = c->block_bytes ? c->block_bytes : ZIPCAST_BLOCK_BYTES;
	g->queue_tail = &g->queue;
	g->member = calloc(c->nmembers, sizeof(*g->member));
	g->site = hybrid ? malloc(c->nmembers * sizeof(uint32_t)) : NULL;
	if (!g->member || (hybrid && !g->site))
		return -ENOMEM;
	if (hybrid)
		memcpy(g->site, c->site, c->nmembers * sizeof(uint32_t));
	int rc = fill_members(g, c->members, err);
	g->definition = define(g, c->members);
	return rc;
}

static int reserve_number(struct zipcast *zc, uint32_t number, struct zerr *err)
{
	struct used *u, *mine = malloc(sizeof(*mine));
	if (!mine)
		return -ENOMEM;
	*mine = (struct used){.number = number};
	pthread_mutex_lock(&zc->lock);
	HASH_FIND(hh, zc->used, &number, sizeof(number), u);
	if (!u)
		HASH_ADD(hh, zc->used, number, sizeof(number), mine);
	pthread_mutex_unlock(&zc->lock);
	if (!u)
		return 0;
	free(mine);
	return zerr_set(err, -EEXIST, "group number %u was used before", number);
}

/* Those below me; the others connect to me. */
static int connect_peers(struct zipcast_group *g, char *why)
{
	int rc = 0;
	pthread_mutex_lock(&g->zc->connecting);
	for (uint32_t i = 0; i < g->nmembers && rc == 0; i++) {
		struct member *m = &g->member[i];
		if (m->node && m->peer && m->node->number < g->zc->me)
			rc = zcast_node_connect(m->node, why);
	}
	pthread_mutex_unlock(&g->zc->connecting);
	return rc;
}

int zipcast_group_create(struct zipcast_group **out, struct zipcast *zc, const struct zipcast_group_config *c,
	const struct zipcast_events *events, char why[ZIPCAST_WHY_BYTES])
{
	struct zerr err = {.text = ""};
	struct zipcast_group *g = calloc(1, sizeof(*g));
	int rc = g ? 0 : -ENOMEM;
	*out = NULL;
	why[0] = '\0';
	if (rc == 0 && (zcast_on_thread(zc) || !zc->node))
		rc = zerr_set(&err, -EDEADLK,
			zc->node ? "groups are not made in callbacks" : "zipcast_meet comes first");
	if (rc == 0 && (c->nmembers == 0 || c->nmembers > zc->nnodes))
		rc = zerr_set(&err, -EINVAL, "%u members, but there are %u nodes", c->nmembers, zc->nnodes);
	if (rc == 0) {
		g->zc = zc;
		g->events = *events;
		atomic_init(&g->failed, false);
		rc = fill_group(g, c, &err);
	}
	if (rc == 0 && !g->events.incoming && g->me != 0)
		rc = zerr_set(&err, -EINVAL, "receivers need the callback for incoming messages");
	if (rc == 0)
		rc = reserve_number(zc, g->number, &err);
	if (rc != 0) {
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", err.text[0] ? err.text : strerror(-rc));
		if (g)
			zcast_group_free(g);
		return rc;
	}
	rc = connect_peers(g, why);
	struct command command = {.kind = rc == 0 ? COMMAND_GROUP : COMMAND_ABANDON, .group = g, .waited = true};
	zcast_command(zc, &command); /* frees one that is abandoned */
	if (rc == 0)
		*out = g;
	return rc;
}

int zipcast_send(struct zipcast_group *g, const void *data, uint64_t bytes)
{
	if (g->me != 0)
		return -EPERM;
	if (bytes == 0 || (bytes - 1) / g->block_bytes >= INT32_MAX)
		return -EINVAL;
	if (atomic_load(&g->failed))
		return -EPIPE;
	struct command *c = calloc(1, sizeof(*c));
	struct outgoing *out = malloc(sizeof(*out));
	if (!c || !out) {
		free(c);
		free(out);
		return -ENOMEM;
	}
	*out = (struct outgoing){.data = (void *)(uintptr_t)data, .bytes = bytes};
	*c = (struct command){.kind = COMMAND_SEND, .group = g, .out = out};
	zcast_command(g->zc, c);
	return 0;
}

void zipcast_group_destroy(struct zipcast_group *g)
{
	if (!g)
		return;
	struct command c = {.kind = COMMAND_DESTROY, .group = g, .waited = true};
	if (zcast_on_thread(g->zc))
		zcast_group_end(g);
	else
		zcast_command(g->zc, &c);
}
