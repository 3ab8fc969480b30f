/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes on other fabrics. Both of two such nodes ask their zipperd for a circuit of the same name (ctl.h, MEET);
 * when it has connected them, the link is as one between them: the higher one says who it is, and so on (guest.c). To
 * ask takes an application's thread the time that zipperd takes to answer; for the other node the context's thread
 * waits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/context.h"
#include "common/control/ctl_name.h"

int zcast_bridge_init(struct zipcast *zc, const struct zipcast_config *c, struct zerr *err)
{
	struct zsession_params *p = &zc->zipper;
	if (!c->fabric)
		return c->zipper
			       ? zerr_set(err, -EINVAL, "a zipper is of use to nodes that say which fabric they are on")
			       : 0;
	if (!zctl_name_ok(c->fabric) || strchr(c->fabric, '='))
		return zerr_set(err, -EINVAL, "'%.80s' is no name for a fabric", c->fabric);
	snprintf(zc->fabric, sizeof(zc->fabric), "%s", c->fabric);
	if (!c->zipper)
		return 0;
	if (!c->user || !zctl_name_ok(c->user))
		return zerr_set(err, -EINVAL, "who is to be known to zipperd must have a name");
	snprintf(p->user, sizeof(p->user), "%s", c->user);
	snprintf(p->job, sizeof(p->job), "%s", zc->session);
	memcpy(p->key, c->user_key ? c->user_key : c->key, sizeof(p->key));
	p->auth = &zauth_module;
	p->timeout_ms = zc->timeout_ms;
	p->settled_later = true;
	int rc = zaddr_parse(&p->zipper, c->zipper, err);
	return rc == 0 && p->zipper.kind == ZADDR_VERBS ? zcast_modules_configure(err) : rc;
}

/* --- an application's thread --- */

static int ask(struct node *n, struct zlink **link, struct zerr *err)
{
	const struct zipcast *zc = n->zc;
	struct zctl_meet meet;
	struct zsession *s;
	uint32_t low = n->number < zc->me ? n->number : zc->me, high = n->number < zc->me ? zc->me : n->number;
	if (!zc->zipper.user[0])
		return zerr_set(err, -EHOSTUNREACH, "node %u is on fabric %s, and this node knows no zipper", n->number,
			n->fabric);
	int rc = zsession_open(&s, &zc->zipper, ZCTL_SERVICE_CIRCUIT, err);
	if (rc != 0)
		return rc;
	snprintf(meet.name, sizeof(meet.name), "%u-%u", low, high);
	snprintf(meet.from, sizeof(meet.from), "%s", zc->fabric);
	snprintf(meet.to, sizeof(meet.to), "%s", n->fabric);
	rc = zsession_meet(s, &meet, err);
	*link = zsession_release(s);
	if (rc != 0)
		(*link)->ops->close(*link);
	return rc;
}

int zcast_bridge_call(struct node *n, char *why)
{
	struct zerr err = {.text = ""};
	struct zipcast *zc = n->zc;
	struct zlink *link = NULL;
	pthread_mutex_lock(&zc->lock);
	bool there = n->connected || n->calling;
	n->calling |= !there;
	pthread_mutex_unlock(&zc->lock);
	if (there)
		return 0;
	int rc = ask(n, &link, &err);
	if (rc != 0) {
		zcast_note_calling(n, false);
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text);
		return rc;
	}
	struct command c = {.kind = COMMAND_CALL, .node = n, .zlink = link, .waited = true, .why = why};
	zcast_command(zc, &c);
	return c.rc;
}

/* --- the context's thread --- */

int zcast_bridge_add(struct node *n, struct zlink *z, char *why)
{
	struct call *c = calloc(1, sizeof(*c));
	int rc = c ? zcast_watch(n->zc, &c->link, z) : -ENOMEM;
	if (rc != 0) {
		free(c);
		z->ops->close(z);
		zcast_note_calling(n, false);
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", strerror(-rc));
		return rc;
	}
	c->node = n;
	list_add(&n->zc->calls, &c->of_context);
	return 0;
}

static void forget(struct zipcast *zc, struct call *c)
{
	list_del(&c->of_context);
	zcast_unwatch(zc, &c->link);
	free(c);
}

void zcast_call_close(struct zipcast *zc, struct call *c)
{
	struct zlink *z = c->link.zlink;
	zcast_note_calling(c->node, false);
	forget(zc, c);
	z->ops->close(z);
}

bool zcast_bridge_hopes(struct node *n)
{
	if (!n->bridged || n->link.zlink)
		return true;
	pthread_mutex_lock(&n->zc->lock);
	bool calling = n->calling;
	pthread_mutex_unlock(&n->zc->lock);
	return calling;
}

void zcast_bridge_refused(struct node *n, const char *why)
{
	snprintf(n->refused, sizeof(n->refused), "node %u: %.200s", n->number, why);
	zcast_members_lost(n, n->refused);
}

/* At no time neither called nor connected: who makes a group meanwhile would call it again. */
void zcast_bridge_up(struct node *n, struct zlink *z)
{
	char why[ZIPCAST_WHY_BYTES];
	int rc = zcast_node_up(n, z, why);
	zcast_note_calling(n, false);
	if (rc != 0 && !n->link.zlink)
		zcast_bridge_refused(n, strerror(-rc));
}

static void fail(struct zipcast *zc, struct call *c, int rc)
{
	struct node *n = c->node;
	char why[ZIPCAST_WHY_BYTES];
	if (c->why[0])
		snprintf(why, sizeof(why), "%s", c->why);
	else
		snprintf(why, sizeof(why), "the connection to zipperd: %s",
			rc == -ESHUTDOWN ? "it was closed" : strerror(-rc));
	zcast_call_close(zc, c);
	zcast_bridge_refused(n, why);
}

static int greet(struct zipcast *zc, struct call *c)
{
	struct zctl_msg msg = {.type = ZCTL_HELLO};
	struct zctl_hello *hello = &c->hello;
	hello->service = ZCTL_SERVICE_CAST;
	snprintf(hello->user, sizeof(hello->user), "%u", zc->me);
	snprintf(hello->job, sizeof(hello->job), "%s", zc->session);
	zauth_module.random(hello->nonce, sizeof(hello->nonce));
	msg.u.hello = *hello;
	c->state = CALL_GREETS;
	return zcast_guest_say(c->link.zlink, &msg);
}

static int prove(struct zipcast *zc, struct call *c, const struct zctl_challenge *challenge)
{
	struct zctl_msg msg = {.type = ZCTL_PROOF};
	c->challenge = *challenge;
	zauth_module.prove(msg.u.proof.mac, zc->key, ZAUTH_ASKS, &c->hello, challenge);
	c->state = CALL_PROVES;
	return zcast_guest_say(c->link.zlink, &msg);
}

static int check(struct zipcast *zc, struct call *c, const struct zctl_proof *proof)
{
	if (zauth_module.check(proof->mac, zc->key, ZAUTH_ANSWERS, &c->hello, &c->challenge) != 0) {
		snprintf(c->why, sizeof(c->why), "it has another key");
		return -EACCES;
	}
	c->state = CALL_PROVED;
	return 0;
}

struct hearing {
	struct zipcast *zc;
	struct call *call;
};

static int hear(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct hearing *h = ctx;
	struct call *c = h->call;
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	if (c->state == CALL_CONNECTED || c->state == CALL_PROVED)
		return -EAGAIN; /* for the guest, or the node */
	if (env->kind != ZWIRE_CTRL || zctl_decode(&msg, payload, env->len, &err) != 0)
		return -EPROTO;
	int rc = -EPROTO;
	if (msg.type == ZCTL_ERROR) {
		snprintf(c->why, sizeof(c->why), "%s", msg.u.error.text);
		rc = -EACCES;
	} else if (msg.type == ZCTL_MET && c->state == CALL_MEETS) {
		c->state = CALL_CONNECTED;
		rc = c->node->number < h->zc->me ? greet(h->zc, c) : 0;
	} else if (msg.type == ZCTL_CHALLENGE && c->state == CALL_GREETS) {
		rc = prove(h->zc, c, &msg.u.challenge);
	} else if (msg.type == ZCTL_PROOF && c->state == CALL_PROVES) {
		rc = check(h->zc, c, &msg.u.proof);
	}
	zctl_free(&msg);
	return rc;
}

/* False: its link is not ready to be one yet. */
static bool become_node(struct zipcast *zc, struct call *c)
{
	struct zlink *z = c->link.zlink;
	struct node *n = c->node;
	int rc = zcast_link_settle(zc, z, c->why);
	if (rc > 0)
		return false;
	if (rc < 0) {
		fail(zc, c, rc);
		return true;
	}
	forget(zc, c);
	zcast_bridge_up(n, z);
	return true;
}

bool zcast_calls_turn(struct zipcast *zc)
{
	struct list *node, *after;
	bool did = false;
	list_for_each(node, after, &zc->calls) {
		struct call *c = list_entry(node, struct call, of_context);
		struct hearing h = {zc, c};
		struct zsink sink = {.take = hear, .ctx = &h};
		int rc = c->link.zlink->ops->poll(c->link.zlink, &sink, 4);
		did |= rc != 0;
		if (c->state == CALL_CONNECTED)
			zcast_guest_add(zc, c);
		else if (c->state == CALL_PROVED && become_node(zc, c))
			did = true;
		else if (rc < 0 && rc != -EAGAIN)
			fail(zc, c, rc);
	}
	return did;
}
