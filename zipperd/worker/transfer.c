/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers, see transfer.h. */
#include "zipperd/worker/transfer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "zipperd/worker/fanout.h"
#include "common/base/log.h"

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
	fanned_leave(w, t);
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

/* --- can this link? --- */

/* It may have turned out since that there is no way for them. */
static bool can_still(const struct zlink *z, enum zlink_half half)
{
	struct zrma_limits limits;
	z->ops->rma->limits(z, &limits);
	return (half == ZLINK_RX ? limits.reads : limits.writes) > 0;
}

static bool admit(struct worker *w, struct zlink *z, enum zlink_half half, enum one_sided *state,
	struct zregion **region)
{
	struct zerr err;
	if (*state == ONE_SIDED_UNKNOWN) {
		int rc = staging_admit(&w->staging, z, half, region, &err);
		*state = rc == 0 ? ONE_SIDED_YES : ONE_SIDED_NO;
		if (rc != 0 && err.text[0])
			zlog(ZLOG_WARN, "%s: large messages travel as fragments: %s", z->peer, err.text);
	}
	return *state == ONE_SIDED_YES && can_still(z, half);
}

/* --- agreeing --- */

bool transfer_can_read(struct source *s)
{
	return admit(s->lane->worker, s->zlink, ZLINK_RX, &s->one_sided, &s->region);
}

/* A new one, in the table. NULL: no memory, or there is one already that the receiver has answered. */
static struct transfer *add(struct lane *l, struct dest *d, uint32_t src, const struct zwire_env *env)
{
	struct worker *w = l->worker;
	struct transfer *t = transfer_find(l, src, env->xfer);
	if (t && t->state != TRANSFER_OFFERED)
		return NULL; /* a repetition of what is running, or nonsense: the receiver knows */
	if (t && t->fanned && fanned_say(w, t, RELAYED_LEFT) != 0)
		return NULL;
	if (t)
		transfer_release(w, t);
	struct buf *b = pool_get(&w->pool, sizeof(struct transfer));
	if (!b)
		return NULL;
	struct transfer **bucket = bucket_of(l, src, env->xfer);
	t = (struct transfer *)(void *)b->payload;
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

bool transfer_offer(struct source *s, struct dest *d, const struct zwire_env *env, const uint8_t key[ZRMA_KEY_BYTES])
{
	if (!transfer_can_read(s) || s->ntransfers >= TRANSFER_OFFERS_MAX)
		return false;
	struct transfer *t = add(s->lane, d, s->station, env);
	if (!t)
		return false;
	t->source = s;
	memcpy(t->from, key, ZRMA_KEY_BYTES);
	list_add(&s->transfers, &t->of_source);
	s->ntransfers++;
	return true;
}

int transfer_offer_fanned(struct lane *l, const struct zwire_env *env, const struct fan *fan)
{
	struct worker *w = l->worker;
	struct zwire_env plain = *env;
	uint32_t index = l->place[env->dst].dest;
	dest_touch(l, index);
	struct dest *d = &l->dest[index];
	int rc = admit_message(w, d, env);
	if (rc != ADMITTED)
		return rc == DROPPED ? 0 : -EAGAIN;
	struct transfer *t = add(l, d, env->src, env);
	if (t) {
		t->fanned = true;
		t->fan = *fan;
	} else {
		plain.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
	}
	rc = forward_envelope(w, d, &plain);
	if (rc != 0) {
		if (t)
			transfer_release(w, t);
		return rc;
	}
	forward_count(l, &plain);
	return t != NULL;
}

int transfer_tell_dest(struct worker *w, struct dest *d, uint32_t src, uint64_t peer_xfer, uint64_t moved)
{
	const struct zwire_env env = {.kind = ZWIRE_MOVED,
		.src = src,
		.dst = d->lane->station_of[d->index],
		.xfer = peer_xfer,
		.offset = moved};
	return d->gone ? 0 : forward_envelope(w, d, &env);
}

/* The offer that the receiver d answers; NULL: there is none. */
static struct transfer *offer_of(struct dest *d, const struct note *n)
{
	struct transfer *t = transfer_find(d->lane, n->dst, n->xfer);
	return t && t->state == TRANSFER_OFFERED && t->dest == d ? t : NULL;
}

int transfer_withdraw(struct worker *w, struct dest *d, const struct note *n)
{
	struct transfer *t = offer_of(d, n);
	if (!t)
		return 0;
	if (t->fanned && fanned_say(w, t, RELAYED_LEFT) != 0)
		return -EAGAIN;
	transfer_release(w, t);
	return 0;
}

/* Can the receiver's link be written to, from the memory that the pieces lie in? */
static bool can_write(struct worker *w, struct transfer *t)
{
	struct tx *tx = t->dest->tx;
	struct zerr err;
	if (!tx || !admit(w, tx->zlink, ZLINK_TX, &tx->one_sided, &tx->region))
		return false;
	if (!t->fanned) {
		t->region = tx->region;
		return true;
	}
	int rc = fanned_admit(w, t, &err);
	if (rc != 0 && err.text[0])
		zlog(ZLOG_WARN, "%s: large messages to several travel as fragments: %s", tx->zlink->peer, err.text);
	return rc == 0;
}

int transfer_go(struct worker *w, struct dest *d, const struct note *n)
{
	struct transfer *t = offer_of(d, n);
	if (!t || t->total != n->total || !can_write(w, t) || (t->source && !transfer_can_read(t->source)) ||
		(!t->fanned && w->staging.stuck))
		return transfer_tell_dest(w, d, n->dst, n->peer_xfer, 0);
	if (t->fanned && fanned_say(w, t, RELAYED_READY) != 0)
		return -EAGAIN;
	t->peer_xfer = n->peer_xfer;
	t->ack = n->ack;
	memcpy(t->to, n->key, ZRMA_KEY_BYTES);
	t->state = TRANSFER_RUNNING;
	if (t->fanned) { /* who reads is another one */
		list_add(&d->started, &t->of_dest);
		return 0;
	}
	if (list_empty(&d->starting))
		d->hungry.since_ms = 0;
	list_add(&d->starting, &t->of_dest);
	if (!list_linked(&d->carrying))
		list_add(&w->carrying, &d->carrying);
	return 0;
}

void transfer_decline(struct worker *w, struct transfer *t)
{
	list_del(&t->of_dest);
	t->declined = true;
	t->state = TRANSFER_DONE;
	list_add(&w->telling, &t->of_dest);
}

/* --- ends --- */

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
	fanout_source_gone(w, s);
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
