/* SPDX-License-Identifier: BSD-3-Clause */
/* A call's messages, and how it becomes a guest or a node's link; see call.h. */
#include "zipcast/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/guest.h"
#include "zipcast/handshake.h"
#include "zipcast/node.h"

int zcall_add(struct node *n, struct zlink *z, char why[ZIPCAST_WHY_BYTES])
{
	struct call *c = calloc(1, sizeof(*c));
	int rc = c ? zcontext_watch(n->zc, &c->link, z) : -ENOMEM;
	if (rc != 0) {
		free(c);
		z->ops->close(z);
		znode_note_calling(n, false);
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
	zcontext_unwatch(zc, &c->link);
	free(c);
}

void zcall_close(struct zipcast *zc, struct call *c)
{
	struct zlink *z = c->link.zlink;
	znode_note_calling(c->node, false);
	forget(zc, c);
	z->ops->close(z);
}

static void fail(struct zipcast *zc, struct call *c, int rc)
{
	struct node *n = c->node;
	char why[ZIPCAST_WHY_BYTES];
	if (c->why[0])
		snprintf(why, sizeof(why), "%s", c->why);
	else
		snprintf(why, sizeof(why), "the connection to zipperd: %s",
			rc == -ESHUTDOWN ? "it was closed" : zlink_why(rc));
	zcall_close(zc, c);
	zhandshake_refuse(n, why);
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
	return zhandshake_say(c->link.zlink, &msg);
}

static int prove(struct zipcast *zc, struct call *c, const struct zctl_challenge *challenge)
{
	struct zctl_msg msg = {.type = ZCTL_PROOF};
	c->challenge = *challenge;
	zauth_module.prove(msg.u.proof.mac, zc->key, ZAUTH_ASKS, &c->hello, challenge);
	c->state = CALL_PROVES;
	return zhandshake_say(c->link.zlink, &msg);
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
		return -EAGAIN; /* the message is for the guest, or the node */
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

/* False: its link is not settled yet. */
static bool become_node(struct zipcast *zc, struct call *c)
{
	struct zlink *z = c->link.zlink;
	struct node *n = c->node;
	int rc = zhandshake_settle(zc, z, c->why);
	if (rc > 0)
		return false;
	if (rc < 0) {
		fail(zc, c, rc);
		return true;
	}
	forget(zc, c);
	zhandshake_bridged(n, z);
	return true;
}

static void become_guest(struct zipcast *zc, struct call *c)
{
	struct node *n = c->node;
	if (zguest_add(n, &c->link) != 0) {
		zcall_close(zc, c);
		zhandshake_refuse(n, strerror(ENOMEM));
		return;
	}
	list_del(&c->of_context);
	free(c);
}

bool zcall_turn(struct zipcast *zc)
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
			become_guest(zc, c);
		else if (c->state == CALL_PROVED && become_node(zc, c))
			did = true;
		else if (rc < 0 && rc != -EAGAIN)
			fail(zc, c, rc);
	}
	return did;
}
