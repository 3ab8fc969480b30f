/* SPDX-License-Identifier: BSD-3-Clause */
/* A guest's messages, and how it becomes a node's link; see guest.h. */
#include "zipcast/guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipcast/end.h"
#include "zipcast/handshake.h"
#include "zipcast/node.h"

#define ACCEPT_BUDGET 16

static int answer(struct guest *g, const struct zctl_msg *msg)
{
	return zhandshake_say(g->link.zlink, msg);
}

/* The text names this node's number, as the guest may have meant another node. A caller adds the number by itself. */
static int refuse(const struct zipcast *zc, struct guest *g, int code, const char *text)
{
	struct zctl_msg msg = {.type = ZCTL_ERROR};
	msg.u.error.code = code;
	if (g->called)
		snprintf(msg.u.error.text, sizeof(msg.u.error.text), "%s", text);
	else
		snprintf(msg.u.error.text, sizeof(msg.u.error.text), "node %u: %s", zc->me, text);
	answer(g, &msg);
	return -EACCES;
}

static int greet(struct zipcast *zc, struct guest *g, const struct zctl_hello *hello)
{
	struct zctl_msg msg = {.type = ZCTL_CHALLENGE};
	struct zerr err;
	char *end;
	if (zctl_is_foreign(hello, &err))
		return refuse(zc, g, EPROTONOSUPPORT, err.text);
	if (g->greeted || hello->service != ZCTL_SERVICE_CAST)
		return refuse(zc, g, EINVAL, "this is a node of zipcast");
	if (strcmp(hello->job, zc->session) != 0)
		return refuse(zc, g, ENOENT, "this node belongs to another session");
	unsigned long number = strtoul(hello->user, &end, 10);
	if (*end || end == hello->user || number >= zc->nnodes || number <= zc->me ||
		(g->called ? g->called->number != number : zc->node[number].bridged))
		return refuse(zc, g, EINVAL, "that is not the number of a node that connects to this one");
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
	if (!g->greeted || zauth_module.check(proof->mac, zc->key, ZAUTH_ASKS, &g->hello, &g->challenge) != 0)
		return refuse(zc, g, EACCES, "it has another key");
	zauth_module.prove(msg.u.proof.mac, zc->key, ZAUTH_ANSWERS, &g->hello, &g->challenge);
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
		return -EAGAIN; /* the message is for the node */
	if (env->kind != ZWIRE_CTRL || zctl_decode(&msg, payload, env->len, &err) != 0)
		return -EPROTO;
	int rc = msg.type == ZCTL_HELLO	  ? greet(h->zc, h->guest, &msg.u.hello)
		 : msg.type == ZCTL_PROOF ? prove(h->zc, h->guest, &msg.u.proof)
					  : -EPROTO;
	zctl_free(&msg);
	return rc;
}

bool zguest_accept(struct zipcast *zc)
{
	int i = 0;
	for (; i < ACCEPT_BUDGET; i++) {
		struct zlink *z;
		struct zerr err;
		if (zc->listener->ops->accept(zc->listener, &z, &err) != 0)
			break;
		struct guest *g = calloc(1, sizeof(*g));
		if (!g || zcontext_watch(zc, &g->link, z) != 0) {
			free(g);
			z->ops->close(z);
			continue;
		}
		g->deadline_ms = zclock_ms() + zc->timeout_ms;
		list_add(&zc->guests, &g->of_context);
	}
	return i > 0;
}

int zguest_add(struct node *called, const struct cast_link *link)
{
	struct zipcast *zc = called->zc;
	struct guest *g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->link = *link;
	g->called = called;
	g->deadline_ms = zclock_ms() + zc->timeout_ms;
	list_add(&zc->guests, &g->of_context);
	return 0;
}

void zguest_close(struct zipcast *zc, struct guest *g)
{
	if (g->called)
		znode_note_calling(g->called, false);
	list_del(&g->of_context);
	zcontext_unwatch(zc, &g->link);
	g->link.zlink->ops->close(g->link.zlink);
	free(g);
}

/* The guest has proved that it is its node. False: its link is not settled yet. */
static bool welcome(struct zipcast *zc, struct guest *g)
{
	struct zlink *z = g->link.zlink;
	struct node *n = &zc->node[g->node];
	char why[ZIPCAST_WHY_BYTES];
	int rc = zhandshake_settle(zc, z, why);
	if (rc > 0)
		return false;
	list_del(&g->of_context);
	zcontext_unwatch(zc, &g->link);
	free(g);
	if (rc == 0 && n->bridged) {
		zhandshake_bridged(n, z);
		return true;
	}
	if (rc == 0) {
		znode_up(n, z, why);
		return true;
	}
	z->ops->close(z);
	if (n->bridged) {
		znode_note_calling(n, false);
		zhandshake_refuse(n, why);
	} else {
		zend_without_node(n, why);
	}
	return true;
}

bool zguest_turn(struct zipcast *zc)
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
			zguest_close(zc, g);
			if (called)
				zhandshake_refuse(called,
					"zipperd has connected it, but it did not show that it is that");
		}
	}
	return did;
}
