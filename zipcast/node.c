/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between nodes. Of two nodes the higher one connects. It proves that it knows the key, and so does the other, by
 * the messages and hashes of control.h (HELLO with service CAST, the node's number as its user, the session as its
 * job).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "clock.h"
#include "context.h"
#include "session.h"

#define POLL_BUDGET 32 /* messages of one link in a turn */
#define ACCEPT_BUDGET 16

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
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", err.text);
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
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", err.text);
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
	snprintf(why, sizeof(why), "node %u (%.150s): %s", n->number, n->address,
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

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct node *n = ctx;
	(void)raw;
	n->placing = NULL;
	n->link.heard = true;
	if (env->src != n->number)
		return -EPROTO;
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

/* --- guests --- */

int zcast_guest_say(struct zlink *z, const struct zctl_msg *msg)
{
	uint8_t buf[512], raw[ZWIRE_ENV_BYTES];
	int len = zctl_encode(buf, sizeof(buf), msg);
	if (len < 0)
		return len;
	zwire_encode(raw, &(struct zwire_env){.kind = ZWIRE_CTRL,
				  .src = ZWIRE_NOBODY,
				  .dst = ZWIRE_NOBODY,
				  .len = (uint32_t)len});
	int rc = z->ops->post(z, raw, buf, (size_t)len);
	return rc == 0 ? z->ops->flush(z) : rc; /* full at the second message: not one of us */
}

static int answer(struct guest *g, const struct zctl_msg *msg)
{
	return zcast_guest_say(g->link.zlink, msg);
}

static int refuse(struct guest *g, int code, const char *text)
{
	struct zctl_msg msg = {.type = ZCTL_ERROR};
	msg.u.error.code = code;
	snprintf(msg.u.error.text, sizeof(msg.u.error.text), "%s", text);
	answer(g, &msg);
	return -EACCES;
}

static int greet(struct zipcast *zc, struct guest *g, const struct zctl_hello *hello)
{
	struct zctl_msg msg = {.type = ZCTL_CHALLENGE};
	char *end;
	if (g->greeted || hello->service != ZCTL_SERVICE_CAST)
		return refuse(g, EINVAL, "this is a node of zipcast");
	if (strcmp(hello->job, zc->session) != 0)
		return refuse(g, ENOENT, "this node belongs to another session");
	unsigned long number = strtoul(hello->user, &end, 10);
	if (*end || end == hello->user || number >= zc->nnodes || number <= zc->me ||
		(g->called ? g->called->number != number : zc->node[number].bridged))
		return refuse(g, EINVAL, "that is not the number of a node that connects to this one");
	g->node = (uint32_t)number;
	g->hello = *hello;
	g->greeted = true;
	zauth_module.random(g->challenge.nonce, sizeof(g->challenge.nonce));
	msg.u.challenge = g->challenge;
	return answer(g, &msg);
}

static int prove(struct zipcast *zc, struct guest *g, const struct zctl_proof *proof)
{
	struct zctl_msg msg = {.type = ZCTL_PROOF};
	if (!g->greeted || zauth_module.check(proof->mac, zc->key, &g->hello, &g->challenge) != 0)
		return refuse(g, EACCES, "it has another key");
	struct zctl_hello hello = g->hello;
	hello.service |= ZCTL_PROOF_REPLY;
	zauth_module.prove(msg.u.proof.mac, zc->key, &hello, &g->challenge);
	g->proved = true;
	return answer(g, &msg);
}

struct hearing {
	struct zipcast *zc;
	struct guest *guest;
};

static int hear(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct hearing *h = ctx;
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	if (h->guest->proved)
		return -EAGAIN; /* a message for the node */
	if (env->kind != ZWIRE_CTRL || zctl_decode(&msg, payload, env->len, &err) != 0)
		return -EPROTO;
	int rc = msg.type == ZCTL_HELLO	  ? greet(h->zc, h->guest, &msg.u.hello)
		 : msg.type == ZCTL_PROOF ? prove(h->zc, h->guest, &msg.u.proof)
					  : -EPROTO;
	zctl_free(&msg);
	return rc;
}

bool zcast_guests_accept(struct zipcast *zc)
{
	int i = 0;
	for (; i < ACCEPT_BUDGET; i++) {
		struct zlink *z;
		struct zerr err;
		if (zc->listener->ops->accept(zc->listener, &z, &err) != 0)
			break;
		struct guest *g = calloc(1, sizeof(*g));
		if (!g || zcast_watch(zc, &g->link, z) != 0) {
			free(g);
			z->ops->close(z);
			continue;
		}
		g->deadline_ms = zclock_ms() + zc->timeout_ms;
		list_add(&zc->guests, &g->of_context);
	}
	return i > 0;
}

void zcast_guest_add(struct zipcast *zc, struct call *c)
{
	struct guest *g = calloc(1, sizeof(*g));
	if (!g) {
		struct node *n = c->node;
		zcast_call_close(zc, c);
		zcast_bridge_refused(n, strerror(ENOMEM));
		return;
	}
	g->link = c->link;
	g->called = c->node;
	g->deadline_ms = zclock_ms() + zc->timeout_ms;
	list_del(&c->of_context);
	free(c);
	list_add(&zc->guests, &g->of_context);
}

void zcast_guest_close(struct zipcast *zc, struct guest *g)
{
	if (g->called)
		zcast_note_calling(g->called, false);
	list_del(&g->of_context);
	zcast_unwatch(zc, &g->link);
	g->link.zlink->ops->close(g->link.zlink);
	free(g);
}

/* It has shown that it is the node it says. False: its link is not ready to be one yet. */
static bool welcome(struct zipcast *zc, struct guest *g)
{
	struct zlink *z = g->link.zlink;
	struct node *n = &zc->node[g->node];
	char why[ZIPCAST_WHY_BYTES];
	int rc = zcast_link_settle(zc, z, why);
	if (rc > 0)
		return false;
	list_del(&g->of_context);
	zcast_unwatch(zc, &g->link);
	free(g);
	if (rc == 0 && n->bridged) {
		zcast_bridge_up(n, z);
		return true;
	}
	if (rc == 0) {
		zcast_node_up(n, z, why);
		return true;
	}
	z->ops->close(z);
	if (n->bridged) {
		zcast_note_calling(n, false);
		zcast_bridge_refused(n, why);
	} else {
		zcast_members_lost(n, why);
	}
	return true;
}

bool zcast_guests_turn(struct zipcast *zc)
{
	struct list *node, *after;
	bool did = false;
	list_for_each(node, after, &zc->guests) {
		struct guest *g = list_entry(node, struct guest, of_context);
		struct hearing h = {zc, g};
		struct zsink sink = {.take = hear, .ctx = &h};
		int rc = g->link.zlink->ops->poll(g->link.zlink, &sink, 4);
		did |= rc != 0;
		if (g->proved && welcome(zc, g))
			continue;
		if ((rc < 0 && (rc != -EAGAIN || g->proved)) || zclock_ms() >= g->deadline_ms) {
			struct node *called = g->called;
			zcast_guest_close(zc, g);
			if (called)
				zcast_bridge_refused(called,
					"zipperd has connected it, but it did not show that it is that");
		}
	}
	return did;
}
