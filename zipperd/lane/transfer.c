/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one-sided transfers, see transfer.h. */
#include "zipperd/lane/transfer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/lane/borrowed.h"
#include "zipperd/lane/loan.h"
#include "zipperd/lane/worker.h"

/* --- the table --- */

static struct transfer **bucket_of(struct lane *l, uint32_t src, uint64_t xfer)
{
	uint32_t h = (src * 0x9e3779b1u) ^ ((uint32_t)xfer * 0x85ebca6bu); /* odd multipliers spread neighbours */
	return &l->transfers[(h >> 16 ^ h) & (LANE_BUCKETS - 1)];
}

struct transfer *transfer_find(struct lane *l, uint32_t src, uint64_t xfer)
{
	struct transfer *t = *bucket_of(l, src, xfer);
	while (t && (t->src != src || t->xfer != xfer))
		t = t->chain;
	return t;
}

static void forget_source(struct transfer *t)
{
	if (!t->source)
		return;
	list_del(&t->of_source);
	t->source->ntransfers--;
	t->source = NULL;
}

void transfer_release(struct worker *w, struct transfer *t)
{
	struct transfer **at = bucket_of(t->dest->lane, t->src, t->xfer);
	assert(t->pieces == 0);
	while (*at != t)
		at = &(*at)->chain;
	*at = t->chain;
	list_del(&t->of_dest);
	forget_source(t);
	borrowed_leave(w, t);
	pool_put(&w->pool, t->buf);
	w->freed = true;
}

static void kill_transfer(struct worker *w, struct transfer *t)
{
	list_del(&t->of_dest);
	t->state = TRANSFER_DEAD;
	if (t->pieces == 0)
		transfer_release(w, t);
}

struct transfer *transfer_create(struct lane *l, struct dest *d, uint32_t src, const struct zwire_env *env)
{
	struct buf *b = pool_get(&l->worker->pool, sizeof(struct transfer));
	if (!b)
		return NULL;
	struct transfer **bucket = bucket_of(l, src, env->xfer);
	struct transfer *t = (struct transfer *)(void *)b->payload;
	*t = (struct transfer){.chain = *bucket,
		.dest = d,
		.buf = b,
		.xfer = env->xfer,
		.src = src,
		.total = env->offset,
		.state = TRANSFER_OFFERED};
	*bucket = t;
	return t;
}

/* --- can this link? --- */

/* It may have turned out meanwhile that the network has no way for one-sided operations. */
static bool can_still(const struct zlink *z, enum zlink_half half)
{
	struct zrma_limits limits;
	z->ops->rma->limits(z, &limits);
	return (half == ZLINK_RX ? limits.reads : limits.writes) > 0;
}

/* Joins the staging memory at first use of the link. */
static bool is_joined(struct worker *w, struct zlink *z, enum zlink_half half, enum one_sided *state,
	struct zregion **region)
{
	struct zerr err;
	if (*state == ONE_SIDED_UNKNOWN) {
		int rc = staging_join(&w->staging, z, half, region, &err);
		*state = rc == 0 ? ONE_SIDED_YES : ONE_SIDED_NO;
		if (rc != 0 && err.text[0])
			zlog(ZLOG_WARN, "%s: large messages travel as fragments: %s", z->peer, err.text);
	}
	return *state == ONE_SIDED_YES && can_still(z, half);
}

bool transfer_can_read(struct source *s)
{
	return is_joined(s->lane->worker, s->zlink, ZLINK_RX, &s->one_sided, &s->region);
}

bool transfer_can_write(struct worker *w, struct transfer *t)
{
	struct tx *tx = t->dest->tx;
	struct zerr err;
	if (!tx || !is_joined(w, tx->zlink, ZLINK_TX, &tx->one_sided, &tx->region))
		return false;
	if (!t->fanned) {
		t->region = tx->region;
		return true;
	}
	int rc = borrowed_join(w, t, &err);
	if (rc != 0 && err.text[0])
		zlog(ZLOG_WARN, "%s: large messages to several travel as fragments: %s", tx->zlink->peer, err.text);
	return rc == 0;
}

/* --- ends --- */

void transfer_drop_carry(struct worker *w, struct carry *c)
{
	struct transfer *t = c->transfer;
	struct piece *p = c->piece;
	struct buf *b = c->buf;
	t->dest->staged--;
	t->pieces--;
	if (!b) {
		staging_put(&w->staging, p);
	} else {
		loan_put(w, p);
		pool_put(&w->pool, b);
	}
	if (t->state == TRANSFER_DEAD && t->pieces == 0)
		transfer_release(w, t);
}

void transfer_decline(struct worker *w, struct transfer *t)
{
	list_del(&t->of_dest);
	t->declined = true;
	t->state = TRANSFER_DONE;
	list_add(&w->telling, &t->of_dest);
}

static void kill_all(struct worker *w, struct list *head)
{
	struct list *node, *after;
	list_for_each(node, after, head)
		kill_transfer(w, list_entry(node, struct transfer, of_dest));
}

void transfer_source_gone(struct worker *w, struct source *s)
{
	while (!list_empty(&s->transfers)) {
		struct transfer *t = list_entry(s->transfers.next, struct transfer, of_source);
		forget_source(t);
		if (t->state == TRANSFER_OFFERED || t->state == TRANSFER_RUNNING)
			kill_transfer(w, t);
	}
}

void transfer_dest_gone(struct worker *w, struct dest *d)
{
	kill_all(w, &d->starting);
	kill_all(w, &d->started);
	while (d->tx && d->tx->waiting) {
		struct carry *c = d->tx->waiting;
		d->tx->waiting = c->next;
		transfer_drop_carry(w, c);
	}
}

void transfer_drop_lane(struct worker *w, struct lane *l)
{
	for (uint32_t i = 0; l->transfers && i < LANE_BUCKETS; i++)
		while (l->transfers[i])
			transfer_release(w, l->transfers[i]);
}
