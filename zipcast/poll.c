/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch of what comes over a link, and the end of links; see poll.h. */
#include "zipcast/poll.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "zipcast/end.h"
#include "zipcast/hear.h"
#include "zipcast/receive.h"
#include "zipcast/remote.h"

#define POLL_BUDGET 32 /* messages of one link in a turn */

void zpoll_lose(struct node *n, const char *why)
{
	struct zipcast *zc = n->zc;
	uint32_t i = 0;
	while (zc->up[i] != n)
		i++;
	zc->up[i] = zc->up[--zc->nup];
	zcontext_unwatch(zc, &n->link);
	zremote_before_close(n);
	n->link.zlink->ops->close(n->link.zlink);
	n->link.zlink = NULL;
	zremote_after_close(n);
	znode_down(n);
	if (n->bridged && why)
		snprintf(n->refused, sizeof(n->refused), "%s", why);
	zend_without_node(n, why);
}

static void lost(struct node *n, int rc)
{
	char why[ZIPCAST_WHY_BYTES];
	int len = snprintf(why, sizeof(why), "node %u (%.150s): ", n->number, n->address);
	if (n->says != n->number)
		snprintf(why + len, sizeof(why) - (size_t)len, "that is the address of node %u", n->says);
	else
		snprintf(why + len, sizeof(why) - (size_t)len, "%s",
			rc == -ESHUTDOWN ? "it closed the connection" : zlink_why(rc));
	zpoll_lose(n, why);
}

static void *place(void *ctx, const struct zwire_env *env)
{
	struct node *n = ctx;
	void *at = env->kind == ZWIRE_BLOCK ? zreceive_place(n, env) : NULL;
	n->placing = at ? zgroup_of(n->zc, env) : NULL;
	return at;
}

/* The other end takes this node for another one: it has other addresses. It hears our number, and ends the
 * connection. */
static void say_who(struct node *n, const struct zwire_env *env)
{
	const struct zwire_env out = {.kind = ZWIRE_FAIL, .src = n->zc->me, .dst = n->number, .comm = env->comm};
	znode_tell(n, &out, NULL);
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
	/* The link's other end is zipperd: there is no memory of the node to write to. */
	if (n->bridged && (env->flags & ZWIRE_F_ONE_SIDED || env->kind == ZWIRE_WRITTEN))
		return -EPROTO;
	switch (env->kind) {
	case ZWIRE_BLOCK:
		zreceive_take(n, env);
		return 0;
	case ZWIRE_WRITTEN:
		if (env->len != 0)
			return -EPROTO;
		zreceive_written(n, env);
		return 0;
	case ZWIRE_LEAVE:
		if ((uint32_t)env->tag >= n->zc->nnodes || env->seq > ZWIRE_LEAVE_END)
			return -EPROTO;
		/* fall through */
	case ZWIRE_READY:
		if (env->kind == ZWIRE_READY && env->len != 0 &&
			(env->flags & ZWIRE_F_SYNC || env->len != ZRMA_KEY_BYTES || !(env->flags & ZWIRE_F_ONE_SIDED)))
			return -EPROTO;
		/* fall through */
	case ZWIRE_FAIL:
		return zhear_word(n, env, payload);
	default:
		return -EPROTO;
	}
}

int zpoll_node(struct node *n)
{
	struct zsink sink = {.place = place, .take = take, .ctx = n};
	int rc = n->speechless ? -ENOMEM : n->link.zlink->ops->poll(n->link.zlink, &sink, POLL_BUDGET);
	if (rc == 0)
		rc = n->broken;
	if (rc < 0 && rc != -EAGAIN)
		lost(n, rc);
	return rc;
}
