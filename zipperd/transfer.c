/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers, see transfer.h. */
#include "transfer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "fanout.h"
#include "log.h"

#define REAP_BATCH 16

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

static void release(struct worker *w, struct transfer *t)
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
		release(w, t);
}

/* --- can this link? --- */

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
	return *state == ONE_SIDED_YES;
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
		release(w, t);
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
	struct transfer *t = add(s->lane, d, s->vrank, env);
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
	uint32_t lrank = l->place[env->dst].lrank;
	dest_touch(l, lrank);
	struct dest *d = &l->dest[lrank];
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
			release(w, t);
		return rc;
	}
	forward_count(l, &plain);
	return t != NULL;
}

static int tell_dest(struct worker *w, struct dest *d, uint32_t src, uint64_t peer_xfer, uint64_t moved)
{
	const struct zwire_env env = {.kind = ZWIRE_MOVED,
		.src = src,
		.dst = d->lane->vrank_of[d->lrank],
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
	release(w, t);
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
	if (!t || t->total != n->total || !can_write(w, t))
		return tell_dest(w, d, n->dst, n->peer_xfer, 0);
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
	list_add(&d->starting, &t->of_dest);
	if (!list_linked(&d->carrying))
		list_add(&w->carrying, &d->carrying);
	return 0;
}

/* --- pieces --- */

static void drop_carry(struct worker *w, struct carry *c)
{
	struct transfer *t = c->transfer;
	struct piece *p = c->piece;
	struct buf *b = c->buf;
	t->dest->staged--;
	t->pieces--;
	if (!b) {
		staging_put(&w->staging, p);
	} else {
		fanout_put_piece(w, p);
		pool_put(&w->pool, b);
	}
	if (t->state == TRANSFER_DEAD && t->pieces == 0)
		release(w, t);
}

/* All is written: tells both. false: not yet. */
static bool tell(struct worker *w, struct transfer *t)
{
	struct dest *d = t->dest;
	if (!t->told_dest && tell_dest(w, d, t->src, t->peer_xfer, t->total) != 0)
		return false;
	t->told_dest = true;
	const struct note note = {.what = NOTE_SEND,
		.kind = ZWIRE_DONE,
		.job = d->lane->job,
		.dst = t->src,
		.src = d->lane->vrank_of[d->lrank],
		.xfer = t->xfer,
		.ack = t->ack};
	if (!note_ring_push(&w->opposite->ports->notes, &note))
		return false;
	w->told_opposite = true;
	release(w, t);
	return true;
}

static void finish(struct worker *w, struct transfer *t)
{
	list_del(&t->of_dest);
	t->state = TRANSFER_DONE;
	list_add(&w->telling, &t->of_dest);
}

/* false: the link takes no more now. */
static bool start_write(struct worker *w, struct carry *c)
{
	struct transfer *t = c->transfer;
	const struct piece *p = c->piece;
	struct tx *tx = t->dest->tx;
	const struct zrma_op op =
		{.key = t->to, .offset = p->offset, .local = p->data, .len = p->len, .region = t->region, .cookie = c};
	int rc = tx->zlink->ops->rma->write(tx->zlink, &op);
	if (rc == -EAGAIN)
		return false;
	if (rc == 0) {
		tx->writes++;
		if (!list_linked(&tx->writing))
			list_add(&w->writing, &tx->writing);
		return true;
	}
	forward_lose_tx(w, t->dest, rc); /* kills the transfer, but the piece keeps it */
	drop_carry(w, c);
	return true;
}

static void write_out(struct worker *w, struct carry *c)
{
	struct tx *tx = c->transfer->dest->tx;
	if (!tx->waiting && start_write(w, c))
		return;
	c->next = NULL;
	*(tx->waiting ? tx->waiting_tail : &tx->waiting) = c;
	tx->waiting_tail = &c->next;
	if (!list_linked(&tx->writing))
		list_add(&w->writing, &tx->writing);
}

void transfer_carry(struct worker *w, struct carry *c)
{
	c->transfer->pieces++;
	c->transfer->dest->staged++;
	write_out(w, c);
}

static void came_in(struct worker *w, struct piece *p, int rc)
{
	if (p->fanout)
		fanout_came_in(w, p, rc);
	else if (rc != 0 || p->carry.transfer->state == TRANSFER_DEAD)
		drop_carry(w, &p->carry); /* why it failed is told when the half's end is */
	else
		write_out(w, &p->carry);
}

static void went_out(struct worker *w, struct carry *c, int rc)
{
	struct transfer *t = c->transfer;
	if (rc == 0 && t->state == TRANSFER_RUNNING) {
		t->written += c->piece->len;
		stat_add(&t->dest->lane->stats.bytes, c->piece->len);
		if (c->shared)
			stat_add(&t->dest->lane->stats.shared_bytes, c->piece->len);
		if (t->written == t->total)
			finish(w, t);
	}
	drop_carry(w, c);
}

int transfer_read_piece(struct worker *w, struct source *s, const uint8_t key[ZRMA_KEY_BYTES], struct piece *p)
{
	const struct zrma_op op =
		{.key = key, .offset = p->offset, .local = p->data, .len = p->len, .region = s->region, .cookie = p};
	int rc = s->zlink->ops->rma->read(s->zlink, &op);
	if (rc != 0)
		return rc;
	s->reads++;
	if (!list_linked(&s->reading))
		list_add(&w->reading, &s->reading);
	return 0;
}

/* false: no piece or no room now. */
static bool start_read(struct worker *w, struct transfer *t)
{
	struct source *s = t->source;
	struct piece *p = staging_get(&w->staging);
	if (!p)
		return false;
	uint64_t len = t->total - t->started;
	struct zrma_limits from, to;
	s->zlink->ops->rma->limits(s->zlink, &from);
	t->dest->tx->zlink->ops->rma->limits(t->dest->tx->zlink, &to);
	const uint64_t max[] = {w->staging.piece_bytes, from.max_bytes, to.max_bytes};
	for (int i = 0; i < 3; i++)
		len = len < max[i] ? len : max[i];
	p->carry = (struct carry){.transfer = t, .piece = p};
	p->offset = t->started;
	p->len = (uint32_t)len;
	int rc = transfer_read_piece(w, s, t->from, p);
	if (rc != 0) {
		staging_put(&w->staging, p);
		if (rc != -EAGAIN)
			worker_lose_source(w, s, rc); /* kills the transfer */
		return false;
	}
	t->started += len;
	t->pieces++;
	t->dest->staged++;
	return true;
}

/* --- turns --- */

/* Half of all, or what may wait for it as messages: a receiver that is slow must not have all the memory. */
static uint32_t share_of(const struct worker *w, const struct dest *d)
{
	uint64_t share = d->lane->limits.dest_share / w->staging.piece_bytes, half = w->staging.npieces / 2;
	share = share < half ? share : half;
	return share < STAGING_PIECES_MIN ? STAGING_PIECES_MIN : (uint32_t)share;
}

static bool start_reads(struct worker *w)
{
	bool moved = false;
	/* Each once: who comes to the end of the list is not seen again in this turn. */
	struct list turn;
	list_take(&turn, &w->carrying);
	while (!list_empty(&turn)) {
		struct dest *d = list_entry(turn.next, struct dest, carrying);
		uint32_t share = share_of(w, d);
		list_del(&d->carrying);
		list_add(&w->carrying, &d->carrying);
		while (!list_empty(&d->starting) && d->staged < share) {
			struct transfer *t = list_entry(d->starting.next, struct transfer, of_dest);
			if (!start_read(w, t))
				break;
			moved = true;
			if (t->started == t->total) {
				list_del(&t->of_dest);
				list_add(&d->started, &t->of_dest);
			}
		}
		if (list_empty(&d->starting))
			list_del(&d->carrying);
	}
	return moved;
}

static bool reap_reads(struct worker *w, struct source *s)
{
	struct zrma_done done[REAP_BATCH];
	int n, total = 0;
	while ((n = s->zlink->ops->rma->reap(s->zlink, ZLINK_RX, done, REAP_BATCH)) > 0) {
		s->reads -= (uint32_t)n;
		total += n;
		for (int i = 0; i < n; i++)
			came_in(w, done[i].cookie, done[i].rc);
	}
	if (n < 0)
		worker_lose_source(w, s, n);
	if (s->reads == 0) {
		list_del(&s->reading);
		worker_settle_source(w, s);
	}
	return total > 0;
}

static bool reap_writes(struct worker *w, struct tx *tx)
{
	struct zrma_done done[REAP_BATCH];
	int n, total = 0;
	while ((n = tx->zlink->ops->rma->reap(tx->zlink, ZLINK_TX, done, REAP_BATCH)) > 0) {
		tx->writes -= (uint32_t)n;
		total += n;
		for (int i = 0; i < n; i++)
			went_out(w, done[i].cookie, done[i].rc);
	}
	if (n < 0 && tx->dest)
		forward_lose_tx(w, tx->dest, n);
	while (tx->waiting) {
		struct carry *c = tx->waiting;
		tx->waiting = c->next;
		if (c->transfer->state == TRANSFER_DEAD) {
			drop_carry(w, c);
		} else if (!start_write(w, c)) {
			c->next = tx->waiting;
			tx->waiting = c;
			break;
		}
		total++;
	}
	if (tx->writes == 0 && !tx->waiting) {
		list_del(&tx->writing);
		worker_settle_tx(w, tx);
	}
	return total > 0;
}

bool transfer_turn(struct worker *w)
{
	struct list *node, *after;
	bool moved = fanout_turn(w);
	moved |= start_reads(w);
	list_for_each(node, after, &w->reading)
		moved |= reap_reads(w, list_entry(node, struct source, reading));
	list_for_each(node, after, &w->writing)
		moved |= reap_writes(w, list_entry(node, struct tx, writing));
	list_for_each(node, after, &w->telling)
		moved |= tell(w, list_entry(node, struct transfer, of_dest));
	return moved;
}

bool transfer_sleep(struct worker *w, bool *poll)
{
	struct list *node, *after;
	bool busy = false;
	list_for_each(node, after, &w->writing) {
		struct dest *d = list_entry(node, struct tx, writing)->dest;
		if (!d || d->cold)
			continue;
		worker_cool_tx(w, d);
		busy |= !d->cold;
	}
	/* Sources are armed as such, unless they are lost or stalled. */
	*poll = !list_empty(&w->carrying) || !list_empty(&w->reading) || !list_empty(&w->writing) ||
		!list_empty(&w->telling) || fanout_waits(w);
	return busy;
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
		drop_carry(w, c);
	}
}

void transfer_drop_lane(struct worker *w, struct lane *l)
{
	for (uint32_t i = 0; i < LANE_BUCKETS; i++)
		while (l->transfers[i])
			release(w, l->transfers[i]);
}
