/* SPDX-License-Identifier: BSD-3-Clause */
/* Attempts to connect, one at a time for a node; see connect.h. */
#include "zipcast/connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl_name.h"
#include "common/session/session.h"
#include "zipcast/command.h"

int zconnect_init(struct zipcast *zc, const struct zipcast_config *c, struct zerr *err)
{
	struct zsession_params *p = &zc->zipper;
	if (!c->fabric)
		return c->zipper ? zerr_set(err, -EINVAL, "a zipper needs a fabric: name the fabric of this node") : 0;
	if (!zctl_name_ok(c->fabric) || strchr(c->fabric, '='))
		return zerr_set(err, -EINVAL, "'%.80s' is no name for a fabric", c->fabric);
	snprintf(zc->fabric, sizeof(zc->fabric), "%s", c->fabric);
	if (!c->zipper)
		return 0;
	if (!c->user || !zctl_name_ok(c->user))
		return zerr_set(err, -EINVAL, "a node that uses a zipper needs a user name");
	snprintf(p->user, sizeof(p->user), "%s", c->user);
	snprintf(p->job, sizeof(p->job), "%s", zc->session);
	memcpy(p->key, c->user_key ? c->user_key : c->key, sizeof(p->key));
	p->auth = &zauth_module;
	p->timeout_ms = zc->timeout_ms;
	p->settled_later = true;
	int rc = zaddr_parse(&p->zipper, c->zipper, err);
	return rc == 0 && zaddr_traits(&p->zipper)->in_module ? zmodules_configure(err) : rc;
}

/* --- a node on another fabric --- */

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

static int call_bridged(struct node *n, char *why)
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
		znode_note_calling(n, false);
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text);
		return rc;
	}
	struct command c = {.kind = COMMAND_CALL, .node = n, .zlink = link, .waited = true, .why = why};
	zcommand_hand_over(zc, &c);
	return c.rc;
}

/* --- a node on this fabric --- */

static int connect_directly(struct node *n, char *why)
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
	zcommand_hand_over(zc, &c);
	return c.rc;
}

/* --- one attempt at a time --- */

/* False: the node is connected or being called, or another thread has just failed to reach it (rc). */
static bool begin_connecting(struct node *n, int *rc, char *why)
{
	struct zipcast *zc = n->zc;
	bool waited = false;
	pthread_mutex_lock(&zc->lock);
	for (; n->connecting; waited = true)
		pthread_cond_wait(&zc->executed, &zc->lock);
	const bool there = n->connected || n->calling;
	*rc = waited && !there ? n->connect_rc : 0;
	if (*rc != 0)
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", n->unreachable ? n->unreachable : strerror(-*rc));
	const bool mine = n->connecting = !there && *rc == 0;
	pthread_mutex_unlock(&zc->lock);
	return mine;
}

static void end_connecting(struct node *n, int rc, const char *why)
{
	struct zipcast *zc = n->zc;
	pthread_mutex_lock(&zc->lock);
	free(n->unreachable);
	n->unreachable = rc != 0 ? strdup(why) : NULL;
	n->connect_rc = rc;
	n->connecting = false;
	pthread_cond_broadcast(&zc->executed);
	pthread_mutex_unlock(&zc->lock);
}

int zconnect_node(struct node *n, char why[ZIPCAST_WHY_BYTES])
{
	int rc;
	if (!begin_connecting(n, &rc, why))
		return rc;
	rc = n->bridged ? call_bridged(n, why) : connect_directly(n, why);
	end_connecting(n, rc, why);
	return rc;
}
