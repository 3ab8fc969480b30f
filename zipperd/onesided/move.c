/* SPDX-License-Identifier: BSD-3-Clause */
/* Running one-sided transfers, see move.h. */
#include "zipperd/onesided/move.h"

#include <errno.h>

#include "zipperd/lane/fanout.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/tx.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/carry.h"
#include "zipperd/onesided/reader.h"

#define REAP_BATCH 16
#define TURNS_PER_CLOCK 16 /* turns between looks at the clock, while something moves */

/* --- pieces --- */

/* All is written: tells both sides. Or the transfer is declined: tells the receiver, which tells the sender. false: not
 * yet. */
static bool tell(struct worker *w, struct transfer *t)
{
	struct dest *d = t->dest;
	if (!t->told_dest && dest_send_moved(w, d, t->src, t->receiver_xfer, t->declined ? 0 : t->total) != 0)
		return false;
	t->told_dest = true;
	if (t->declined) {
		transfer_release(w, t);
		return true;
	}
	const struct note note = {.what = NOTE_SEND,
		.kind = ZWIRE_DONE,
		.job = d->lane->job,
		.dst = t->src,
		.src = d->lane->station_of[d->index],
		.xfer = t->xfer,
		.ack = t->ack};
	if (!ports_note(w, &note))
		return false;
	transfer_release(w, t);
	return true;
}

static void finish(struct worker *w, struct transfer *t)
{
	list_del(&t->of_dest);
	t->state = TRANSFER_DONE;
	list_add(&w->telling, &t->of_dest);
}

static void came_in(struct worker *w, struct piece *p, int rc)
{
	if (p->fanout)
		reader_came_in(w, p, rc);
	else if (rc != 0 || p->carry.transfer->state == TRANSFER_DEAD)
		transfer_drop_carry(w, &p->carry); /* the half's end tells why it failed */
	else
		carry_write(w, &p->carry);
}

static void went_out(struct worker *w, struct carry *c, int rc)
{
	struct transfer *t = c->transfer;
	if (rc == 0 && t->state == TRANSFER_RUNNING) {
		t->written += c->piece->len;
		lane_add(&t->dest->lane->stats.bytes, c->piece->len);
		if (c->shared)
			lane_add(&t->dest->lane->stats.shared_bytes, c->piece->len);
		if (t->written == t->total)
			finish(w, t);
	}
	transfer_drop_carry(w, c);
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
	int rc = carry_read(w, s, t->from, p);
	if (rc != 0) {
		staging_put(&w->staging, p);
		if (rc != -EAGAIN)
			half_lose_source(w, s, rc); /* makes the transfer DEAD */
		return false;
	}
	t->started += len;
	t->pieces++;
	t->dest->staged++;
	t->dest->hungry.since_ms = 0;
	return true;
}

/* --- turns --- */

/* The share of one receiver, in pieces: as much as may wait for it as messages, and half of all at most, so that a slow
 * receiver does not have all the memory. */
static uint32_t share_of(const struct worker *w, const struct dest *d)
{
	uint64_t share = d->lane->limits.dest_share / w->staging.piece_bytes, half = w->staging.npieces / 2;
	share = share < half ? share : half;
	return share < STAGING_PIECES_MIN ? STAGING_PIECES_MIN : (uint32_t)share;
}

/* Starts as many reads for one receiver as it may have. */
static bool start_reads_for(struct worker *w, struct dest *d)
{
	const uint32_t share = share_of(w, d);
	bool moved = false;
	/* After its first piece it gets no more than are free, so that several slow receivers do not have them all. */
	while (!list_empty(&d->starting) && d->staged < share && (d->staged == 0 || d->staged <= w->staging.nfree)) {
		struct transfer *t = list_entry(d->starting.next, struct transfer, of_dest);
		if (!start_read(w, t))
			break;
		moved = true;
		if (t->started == t->total) {
			list_del(&t->of_dest);
			list_add(&d->started, &t->of_dest);
		}
	}
	return moved;
}

/* Each receiver has one go. Receivers that found no piece left are the first of the next turn. */
static bool start_reads(struct worker *w)
{
	bool moved = false;
	struct list turn, served;
	list_take(&turn, &w->carrying);
	list_init(&served);
	while (!list_empty(&turn) && w->staging.nfree > 0) {
		struct dest *d = list_entry(turn.next, struct dest, carrying);
		moved |= start_reads_for(w, d);
		list_del(&d->carrying);
		if (!list_empty(&d->starting))
			list_add(&served, &d->carrying);
	}
	list_append(&w->carrying, &turn);
	list_append(&w->carrying, &served);
	return moved;
}

/* The destination has no piece under way. */
static void decline_all(struct worker *w, struct dest *d)
{
	while (!list_empty(&d->starting))
		transfer_decline(w, list_entry(d->starting.next, struct transfer, of_dest));
	list_del(&d->carrying);
}

/* All pieces are in use: a receiver that has none may have to go without. */
static bool look_for_hungry(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	list_for_each(node, after, &w->carrying) {
		struct dest *d = list_entry(node, struct dest, carrying);
		if (d->staged > 0 || list_empty(&d->starting) ||
			!staging_is_overdue(&w->staging, &d->hungry, d->tx->zlink->peer))
			continue;
		decline_all(w, d);
		moved = true;
	}
	return moved;
}

static void note_held(struct piece *p, const struct zrma_done *done)
{
	if (__builtin_expect(done->rc != 0, 0) && done->held)
		atomic_store_explicit(&p->held, true, memory_order_relaxed);
}

static bool reap_reads(struct worker *w, struct source *s)
{
	struct zrma_done done[REAP_BATCH];
	int n, total = 0;
	while ((n = s->zlink->ops->rma->reap(s->zlink, ZLINK_RX, done, REAP_BATCH)) > 0) {
		s->reads -= (uint32_t)n;
		total += n;
		for (int i = 0; i < n; i++) {
			note_held(done[i].cookie, &done[i]);
			came_in(w, done[i].cookie, done[i].rc);
		}
	}
	if (n < 0)
		half_lose_source(w, s, n);
	if (s->reads == 0) {
		list_del(&s->reading);
		half_settle_source(w, s);
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
		for (int i = 0; i < n; i++) {
			note_held(((const struct carry *)done[i].cookie)->piece, &done[i]);
			went_out(w, done[i].cookie, done[i].rc);
		}
	}
	if (n < 0 && tx->dest)
		dest_lose_tx(w, tx->dest, n);
	total += carry_write_waiting(w, tx);
	if (tx->writes == 0 && !tx->waiting) {
		list_del(&tx->writing);
		half_settle_tx(w, tx);
	}
	return total > 0;
}

bool move_turn(struct worker *w)
{
	struct list *node, *after;
	bool moved = reader_turn(w);
	moved |= start_reads(w);
	list_for_each(node, after, &w->reading)
		moved |= reap_reads(w, list_entry(node, struct source, reading));
	list_for_each(node, after, &w->writing)
		moved |= reap_writes(w, list_entry(node, struct tx, writing));
	list_for_each(node, after, &w->telling)
		moved |= tell(w, list_entry(node, struct transfer, of_dest));
	if (w->staging.nfree == 0 && !list_empty(&w->carrying) && (!moved || w->turns % TURNS_PER_CLOCK == 0))
		moved |= look_for_hungry(w);
	return moved;
}

bool move_sleep(struct worker *w, bool *poll)
{
	struct list *node, *after;
	bool busy = false;
	list_for_each(node, after, &w->writing) {
		struct dest *d = list_entry(node, struct tx, writing)->dest;
		if (!d || d->cold)
			continue;
		tx_cool(w, d);
		busy |= !d->cold;
	}
	/* The caller arms the sources, except lost and stalled ones. */
	*poll = !list_empty(&w->carrying) || !list_empty(&w->reading) || !list_empty(&w->writing) ||
		!list_empty(&w->telling) || fanout_waits(w);
	return busy;
}
