/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that come up and go, and sending to them; see node.h. */
#include "zipcast/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipcast/group.h"

/* --- connected or not --- */

void znode_note_calling(struct node *n, bool calling)
{
	pthread_mutex_lock(&n->zc->lock);
	n->calling = calling;
	pthread_mutex_unlock(&n->zc->lock);
}

bool znode_has_hope(struct node *n)
{
	if (!n->bridged || n->link.zlink)
		return true;
	pthread_mutex_lock(&n->zc->lock);
	bool calling = n->calling;
	pthread_mutex_unlock(&n->zc->lock);
	return calling;
}

static void note_connected(struct node *n, bool connected)
{
	pthread_mutex_lock(&n->zc->lock);
	n->connected = connected;
	pthread_mutex_unlock(&n->zc->lock);
}

int znode_up(struct node *n, struct zlink *z, char why[ZIPCAST_WHY_BYTES])
{
	struct zipcast *zc = n->zc;
	struct list *node, *after;
	int rc = n->link.zlink ? -EALREADY : zcontext_watch(zc, &n->link, z);
	if (rc != 0) {
		/* The other end will see its link break. A second link is a mistake of the other node's own. */
		if (n->link.zlink == z)
			n->link.zlink = NULL;
		z->ops->close(z);
		snprintf(why, ZIPCAST_WHY_BYTES, "node %u: %s", n->number, strerror(-rc));
		return rc;
	}
	zc->up[zc->nup++] = n;
	n->says = n->number;
	note_connected(n, true);
	/* All that could not be told before is told now, also of a message that is arriving already. */
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		m->told = 0;
		m->told_all = m->greeted = false;
		m->group->untold = true;
		zgroup_set_runnable(m->group);
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

void znode_down(struct node *n)
{
	n->placing = NULL;
	drop_early(n);
	drop_words(n);
	note_connected(n, false);
}

/* --- posting --- */

/* The sending half is full or broken. A broken link goes when it is polled and the receiving half has nothing more to
 * say: that half may know the reason. */
static void refused(struct node *n, int rc)
{
	if (rc == -EAGAIN)
		n->link.blocked = true;
	else if (n->broken == 0)
		n->broken = rc;
}

int znode_post(struct node *n, const struct zwire_env *env, const void *payload)
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

void znode_tell(struct node *n, const struct zwire_env *env, const char *text)
{
	if (!n->link.zlink || (!n->words && znode_post(n, env, text) == 0))
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
		if (znode_post(n, &w->env, w->text) != 0)
			return;
		n->words = w->next;
		if (!n->words)
			n->words_tail = &n->words;
		free(w);
	}
}

void znode_flush(struct node *n)
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

void znode_retry(struct node *n)
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
			zgroup_set_runnable(g);
	}
}
