/* SPDX-License-Identifier: BSD-3-Clause */
/* Links between nodes: connecting to those below this one, and what goes over a link and comes. See guest.c for those
 * who connect to this one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/context.h"
#include "common/session/session.h"

#define POLL_BUDGET 32 /* messages of one link in a turn */

int zcast_node_connect(struct node *n, char *why)
{
	struct zipcast *zc = n->zc;
	struct zerr err = {.text = ""};
	struct zsession_params p = {.auth = &zauth_module, .timeout_ms = zc->timeout_ms, .settled_later = true};
	struct zsession *s;
	char who[32];
	snprintf(who, sizeof(who), "node %u", n->number);
	p.who = who;
	snprintf(p.user, sizeof(p.user), "%u", zc->me);
	snprintf(p.job, sizeof(p.job), "%s", zc->session);
	memcpy(p.key, zc->key, sizeof(p.key));
	int rc = zaddr_parse(&p.zipper, n->address, &err);
	if (rc == 0)
		rc = zsession_open(&s, &p, ZCTL_SERVICE_CAST, &err);
	zauth_module.wipe(p.key, sizeof(p.key));
	if (rc != 0) {
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text);
		return rc;
	}
	struct command c = {.kind = COMMAND_LINK, .node = n, .zlink = zsession_release(s), .waited = true, .why = why};
	zcast_command(zc, &c);
	return c.rc;
}

int zcast_link_settle(struct zipcast *zc, struct zlink *z, char *why)
{
	struct zerr err = {.text = ""};
	int rc = 0;
	if (!z->ops->settle)
		return 0;
	if (!zc->endpoint) {
		zc->settles = z->ops;
		rc = z->ops->endpoint_open(&zc->endpoint, &err);
	}
	if (rc == 0)
		rc = z->ops->settle(z, zc->endpoint, zc->endpoint, &err);
	if (rc < 0)
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text);
	return rc;
}

void zcast_note_calling(struct node *n, bool calling)
{
	pthread_mutex_lock(&n->zc->lock);
	n->calling = calling;
	pthread_mutex_unlock(&n->zc->lock);
}

static void note_connected(struct node *n, bool connected)
{
	pthread_mutex_lock(&n->zc->lock);
	n->connected = connected;
	pthread_mutex_unlock(&n->zc->lock);
}

int zcast_node_up(struct node *n, struct zlink *z, char *why)
{
	struct zipcast *zc = n->zc;
	struct list *node, *after;
	int rc = n->link.zlink ? -EALREADY : zcast_watch(zc, &n->link, z);
	if (rc != 0) {
		/* The other end will see it break; a second link of the same node is a mistake of its own. */
		if (n->link.zlink == z)
			n->link.zlink = NULL;
		z->ops->close(z);
		snprintf(why, ZIPCAST_WHY_BYTES, "node %u: %s", n->number, strerror(-rc));
		return rc;
	}
	zc->up[zc->nup++] = n;
	n->says = n->number;
	note_connected(n, true);
	/* What could not be told before, of a message that is arriving already, too. */
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		m->told = 0;
		m->told_all = m->greeted = false;
		m->group->untold = true;
		zcast_runnable(m->group);
	}
	return 0;
}

static void drop_words(struct node *n)
{
	while (n->words) {
		struct word *w = n->words;
		n->words = w->next;
		free(w);
	}
	n->words_tail = &n->words;
	n->speechless = false;
}

static void drop_early(struct node *n)
{
	while (n->early) {
		struct early *e = n->early;
		n->early = e->next;
		free(e);
	}
	n->nearly = 0;
}

void zcast_node_lost(struct node *n, const char *why)
{
	struct zipcast *zc = n->zc;
	uint32_t i = 0;
	while (zc->up[i] != n)
		i++;
	zc->up[i] = zc->up[--zc->nup];
	zcast_unwatch(zc, &n->link);
	zcast_remote_part(n);
	n->link.zlink->ops->close(n->link.zlink);
	n->link.zlink = NULL;
	zcast_remote_forget(n);
	n->placing = NULL;
	drop_early(n);
	drop_words(n);
	note_connected(n, false);
	if (n->bridged && why)
		snprintf(n->refused, sizeof(n->refused), "%s", why);
	zcast_members_lost(n, why);
}

static void lost(struct node *n, int rc)
{
	char why[ZIPCAST_WHY_BYTES];
	int len = snprintf(why, sizeof(why), "node %u (%.150s): ", n->number, n->address);
	if (n->says != n->number)
		snprintf(why + len, sizeof(why) - (size_t)len, "that is the address of node %u", n->says);
	else
		snprintf(why + len, sizeof(why) - (size_t)len, "%s",
			rc == -ESHUTDOWN ? "it closed the connection" : strerror(-rc));
	zcast_node_lost(n, why);
}

/* --- blocks and words --- */

/* The sending half is full, or broken: then the link goes when it is polled, if the receiving half has nothing more to
 * say, which may know why. */
static void refused(struct node *n, int rc)
{
	if (rc == -EAGAIN)
		n->link.blocked = true;
	else if (n->broken == 0)
		n->broken = rc;
}

int zcast_node_post(struct node *n, const struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct cast_link *l = &n->link;
	if (!l->zlink)
		return -ENOTCONN;
	if (l->blocked)
		return -EAGAIN;
	zwire_encode(raw, env);
	int rc = l->zlink->ops->post(l->zlink, raw, payload, env->len);
	if (rc == 0) {
		l->posted = true;
		n->zc->posts++;
	} else {
		refused(n, rc);
	}
	return rc;
}

void zcast_node_tell(struct node *n, const struct zwire_env *env, const char *text)
{
	if (!n->link.zlink || (!n->words && zcast_node_post(n, env, text) == 0))
		return;
	struct word *w = malloc(sizeof(*w) + env->len);
	if (!w) {
		n->speechless = true;
		return;
	}
	w->next = NULL;
	w->env = *env;
	if (env->len)
		memcpy(w->text, text, env->len);
	*n->words_tail = w;
	n->words_tail = &w->next;
}

static void post_words(struct node *n)
{
	while (n->words) {
		struct word *w = n->words;
		if (zcast_node_post(n, &w->env, w->text) != 0)
			return;
		n->words = w->next;
		if (!n->words)
			n->words_tail = &n->words;
		free(w);
	}
}

void zcast_node_flush(struct node *n)
{
	struct cast_link *l = &n->link;
	if (n->words)
		post_words(n);
	if (!l->posted)
		return;
	int rc = l->zlink->ops->flush(l->zlink);
	l->posted = rc == -EAGAIN;
	if (rc != 0)
		refused(n, rc);
}

void zcast_node_retry(struct node *n)
{
	struct cast_link *l = &n->link;
	struct list *node, *after;
	int rc = l->zlink->ops->flush(l->zlink);
	l->posted = rc == -EAGAIN;
	if (rc == -EAGAIN)
		return;
	l->blocked = false;
	if (rc != 0)
		refused(n, rc);
	list_for_each(node, after, &n->memberships) {
		struct zipcast_group *g = list_entry(node, struct member, of_node)->group;
		if (g->message.sending || g->untold)
			zcast_runnable(g);
	}
}

static void *place(void *ctx, const struct zwire_env *env)
{
	struct node *n = ctx;
	void *at = env->kind == ZWIRE_BLOCK ? zcast_message_place(n, env) : NULL;
	n->placing = at ? zcast_group_find(n->zc, (uint32_t)env->comm) : NULL;
	return at;
}

/* It has another list of addresses, and takes this node for another one: it hears who this is, and ends the connection.
 */
static void say_who(struct node *n, const struct zwire_env *env)
{
	const struct zwire_env out = {.kind = ZWIRE_FAIL, .src = n->zc->me, .dst = n->number, .comm = env->comm};
	zcast_node_tell(n, &out, NULL);
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct node *n = ctx;
	(void)raw;
	n->placing = NULL;
	n->link.heard = true;
	if (env->src != n->number) {
		n->says = env->src;
		return -EPROTO;
	}
	if (env->dst != n->zc->me) {
		say_who(n, env);
		return 0;
	}
	/* The link is to zipperd's memory, not to the node's. */
	if (n->bridged && (env->flags & ZWIRE_F_ONE_SIDED || env->kind == ZWIRE_WRITTEN))
		return -EPROTO;
	switch (env->kind) {
	case ZWIRE_BLOCK:
		zcast_message_take(n, env);
		return 0;
	case ZWIRE_WRITTEN:
		if (env->len != 0)
			return -EPROTO;
		zcast_message_written(n, env);
		return 0;
	case ZWIRE_LEAVE:
		if ((uint32_t)env->tag >= n->zc->nnodes)
			return -EPROTO;
		/* fall through */
	case ZWIRE_READY:
		if (env->kind == ZWIRE_READY && env->len != 0 &&
			(env->len != ZRMA_KEY_BYTES || !(env->flags & ZWIRE_F_ONE_SIDED)))
			return -EPROTO;
		/* fall through */
	case ZWIRE_FAIL:
		zcast_group_hears(n, env, payload);
		return n->nearly > EARLY_MAX ? -EPROTO : 0;
	default:
		return -EPROTO;
	}
}

int zcast_node_poll(struct node *n)
{
	struct zsink sink = {.place = place, .take = take, .ctx = n};
	int rc = n->speechless ? -ENOMEM : n->link.zlink->ops->poll(n->link.zlink, &sink, POLL_BUDGET);
	if (rc == 0)
		rc = n->broken;
	if (rc < 0 && rc != -EAGAIN)
		lost(n, rc);
	return rc;
}
