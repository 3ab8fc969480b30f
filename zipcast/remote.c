/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided blocks: registered memory, writes and their completions; see remote.h. */
#include "zipcast/remote.h"

#include <errno.h>
#include <sched.h>

#include "common/base/clock.h"

#define REAP_BATCH 16
/* Smaller blocks go as messages: memory is opened for each message, and each write needs a message as well. Measured
 * over Soft-RoCE (four nodes in one virtual machine, zipbench cast --figure 6, medians of three runs), written against
 * sent: messages of 8 MiB took 1.5 times as long with blocks of 4 KiB, 1.3 times with 16 KiB, 1.1 times with 64 KiB;
 * messages of 1 MiB took 0.9, 0.8 and 0.6 times as long. Not measured on hardware. */
#define MIN_BYTES 65536

static const struct zrma *rma_of(const struct member *m)
{
	return m->node->link.zlink->ops->rma;
}

bool zremote_is_wanted(const struct member *m)
{
	const struct zrma *rma = rma_of(m);
	const enum zmodules_one_sided mode = m->node->zc->one_sided;
	struct zrma_limits limits;
	if (!rma || mode == ZMODULES_ONE_SIDED_NO || m->node->bridged)
		return false;
	if (mode == ZMODULES_ONE_SIDED_AUTO &&
		(m->group->block_bytes < MIN_BYTES || m->group->block_bytes < rma->min_bytes))
		return false;
	if (!m->node->link.heard)
		return true; /* nothing speaks against it so far */
	rma->limits(m->node->link.zlink, &limits);
	return limits.writes > 0;
}

/* --- the receiver --- */

bool zremote_expose(struct member *m)
{
	const struct message *msg = &m->group->message;
	if (!m->exposed)
		m->exposed = rma_of(m)->expose(m->node->link.zlink, ZLINK_RX, msg->data, msg->bytes, &m->exposure) == 0;
	return m->exposed;
}

void zremote_conceal(struct member *m)
{
	if (m->exposed)
		rma_of(m)->conceal(m->node->link.zlink, &m->exposure);
	m->exposed = false;
}

/* --- the sender --- */

/* The message's memory, registered for the devices of a link. NULL: that is not possible. */
static const struct pin *pin(struct zipcast_group *g, struct zlink *z)
{
	const struct zrma *rma = z->ops->rma;
	const void *domain = rma->domain(z, ZLINK_TX);
	struct pin *p = g->pin;
	while (p < g->pin + g->npins && (p->domain != domain || p->rma != rma))
		p++;
	if (p == g->pin + PINS_MAX)
		return NULL;
	if (p == g->pin + g->npins) {
		g->npins++;
		*p = (struct pin){.domain = domain, .rma = rma};
		p->rc = rma->pin(z, ZLINK_TX, g->message.data, g->message.bytes, &p->region);
	}
	return p->rc == 0 ? p : NULL;
}

void zremote_unpin(struct zipcast_group *g)
{
	for (uint32_t i = 0; i < g->npins; i++)
		if (g->pin[i].rc == 0)
			g->pin[i].rma->unpin(g->pin[i].region);
	g->npins = 0;
}

/* Will a message arrive after the bytes that are written now? A link may need a flush to change over to that order. */
static bool is_ordered(struct zlink *z)
{
	if (!z->ops->rma->is_ordered(z))
		z->ops->flush(z); /* the next post sees how that ends */
	return z->ops->rma->is_ordered(z);
}

static void tell_written(struct member *m, uint64_t offset)
{
	const struct zipcast_group *g = m->group;
	const struct zwire_env env = {.kind = ZWIRE_WRITTEN,
		.src = g->zc->me,
		.dst = m->node->number,
		.comm = g->number,
		.xfer = g->message.number,
		.seq = g->message.bytes,
		.offset = offset};
	znode_tell(m->node, &env, NULL);
}

int zremote_write(struct member *m, uint64_t offset, uint32_t len)
{
	struct zipcast_group *g = m->group;
	struct cast_link *l = &m->node->link;
	struct zrma_limits limits;
	if (!l->zlink || l->blocked)
		return -EAGAIN;
	const struct zrma *rma = l->zlink->ops->rma;
	rma->limits(l->zlink, &limits);
	if (limits.writes == 0 || len > limits.max_bytes || !is_ordered(l->zlink))
		return -EOPNOTSUPP;
	const struct pin *p = pin(g, l->zlink);
	if (!p)
		return -EOPNOTSUPP;
	const struct zrma_op op = {.key = m->key,
		.offset = offset,
		.local = g->message.data + offset,
		.len = len,
		.region = p->region,
		.cookie = m,
		.more = true};
	int rc = rma->write(l->zlink, &op);
	if (rc == -EAGAIN)
		l->blocked = true;
	if (rc != 0)
		return -EAGAIN; /* the receiving half notices a broken link, and removes it */
	m->writes++;
	g->writes++;
	l->writes++;
	l->posted = true;
	g->zc->posts++;
	tell_written(m, offset);
	return 0;
}

bool zremote_reap(struct node *n)
{
	struct cast_link *l = &n->link;
	struct zrma_done done[REAP_BATCH];
	int k = 0;
	bool any = false;
	while ((l->writes || l->failing) && (k = l->zlink->ops->rma->reap(l->zlink, ZLINK_TX, done, REAP_BATCH)) > 0) {
		any = true;
		for (int i = 0; i < k; i++) {
			struct member *m = done[i].cookie;
			m->writes--;
			m->group->writes--;
			l->writes--;
			l->failing |= done[i].rc != 0; /* the reason comes when all have been reported */
			zgroup_set_runnable(m->group);
		}
	}
	if (k < 0) {
		l->failing = false;
		n->broken = k;
	}
	/* Nobody waits for the sending half any more. One more flush lets it tell the receiving half of bytes that may
	 * still be lost. */
	l->posted |= any && !l->writes;
	return any;
}

bool zremote_drain(struct zipcast_group *g, int timeout_ms)
{
	const int64_t until_ms = zclock_ms() + timeout_ms;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		while (m->writes) {
			struct zlink *z = m->node->link.zlink;
			z->ops->flush(z);
			if (zremote_reap(m->node))
				continue;
			if (zclock_ms() >= until_ms)
				return false;
			sched_yield();
		}
	}
	return true;
}

void zremote_give_up(struct zipcast_group *g)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (m->writes)
			rma_of(m)->give_up(m->node->link.zlink, ZLINK_TX);
	}
}

/* --- ends of links --- */

void zremote_before_close(struct node *n)
{
	struct list *node, *after;
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		if (m->exposed) /* nobody waits for its writes */
			rma_of(m)->give_up(n->link.zlink, ZLINK_RX);
		zremote_conceal(m);
		m->key_for = 0;
	}
}

void zremote_after_close(struct node *n)
{
	struct list *node, *after;
	list_for_each(node, after, &n->memberships) {
		struct member *m = list_entry(node, struct member, of_node);
		m->group->writes -= m->writes;
		m->writes = 0;
		zgroup_set_runnable(m->group);
	}
	n->link.writes = 0;
	n->broken = 0;
}
