/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of fan-outs, see reader.h. */
#include "zipperd/onesided/reader.h"

#include <errno.h>

#include "common/base/clock.h"
#include "zipperd/lane/loan.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/carry.h"
#include "zipperd/onesided/fanned.h"
#include "zipperd/onesided/offer.h"

int reader_offer(struct fanout *f, uint32_t receiver, const struct zwire_env *env)
{
	struct lane *l = f->source->lane;
	uint32_t part = l->place[env->dst].part;
	const struct fan fan = {.id = f->id, .reader = l->worker, .receiver = receiver, .part = l->to};
	struct zwire_env plain = *env;
	int rc = 1;
	plain.len = 0;
	if (part == l->to) {
		rc = offer_fanned(l, &plain, &fan);
	} else {
		struct relayed m = {.what = RELAYED_OFFER, .job = l->job, .fan = fan};
		struct relay *r = relay_to(l, part);
		zwire_encode(m.env, &plain);
		if (!r || !relay_push(l->worker, r, &m))
			return -EAGAIN;
	}
	if (rc < 0)
		return rc;
	f->receiver[receiver] = (struct fanout_receiver){.state = rc ? FANOUT_OFFERED : FANOUT_LEFT,
		.dst = env->dst,
		.xfer = env->xfer};
	f->offered += (uint32_t)rc;
	return 0;
}

/* --- rounds --- */

static void begin_round(struct fanout *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->receiver[i].state == FANOUT_READY)
			f->receiver[i].state = FANOUT_TAKES;
	f->taking = f->ready;
	f->ready = 0;
	f->started = 0;
	f->hungry.since_ms = 0;
}

static void end_round(struct fanout *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->receiver[i].state == FANOUT_TAKES)
			f->receiver[i].state = FANOUT_LEFT;
	f->taking = 0;
}

/* Is it time for a round? Receivers that have waited out the patience go without the others. */
static bool is_time(const struct fanout *f)
{
	return f->ready > 0 && f->taking == 0 && f->reading == 0 && !f->head &&
	       (f->offered == 0 || zclock_ns() - f->since_ns >= f->patience_ns);
}

/* A fan-out may have a receiver's share of the pieces, so that a slow one does not have them all. All fan-outs together
 * may have half, as they may wait for one receiver. But each may have one piece if one is free. */
static bool may_read(const struct worker *w, const struct fanout *f)
{
	uint64_t share = f->source->lane->limits.dest_share / w->staging.piece_bytes, half = w->staging.npieces / 2;
	if (share < STAGING_PIECES_MIN)
		share = STAGING_PIECES_MIN;
	return f->out == 0 || (f->out < share && w->lent < half);
}

static bool start_read(struct worker *w, struct fanout *f)
{
	struct source *s = f->source;
	struct piece *p = staging_get(&w->staging);
	if (!p)
		return false;
	struct zrma_limits limits;
	s->zlink->ops->rma->limits(s->zlink, &limits);
	uint64_t len = f->total - f->started;
	len = len < w->staging.piece_bytes ? len : w->staging.piece_bytes;
	len = len < limits.max_bytes ? len : limits.max_bytes;
	p->fanout = f;
	p->offset = f->started;
	p->len = (uint32_t)len;
	int rc = carry_read(w, s, f->key, p);
	if (rc != 0) {
		staging_put(&w->staging, p);
		if (rc != -EAGAIN)
			half_lose_source(w, s, rc);
		return false;
	}
	f->started += len;
	f->reading++;
	f->out++;
	f->hungry.since_ms = 0;
	w->lent++;
	return true;
}

void reader_came_in(struct worker *w, struct piece *p, int rc)
{
	struct fanout *f = p->fanout;
	f->reading--;
	if (rc != 0 || !f->source) { /* the half's end tells why it failed */
		loan_return(w, p);
		return;
	}
	atomic_store_explicit(&p->refs, 1,
		memory_order_relaxed); /* the reader's own, until the whole round has the piece */
	p->next = NULL;
	*f->tail = p;
	f->tail = &p->next;
}

/* Hands the piece to one receiver of the round. false: not now. */
static bool hand(struct worker *w, struct fanout *f, struct piece *p, const struct fanout_receiver *r)
{
	struct lane *l = f->source->lane;
	uint32_t part = l->place[r->dst].part;
	const struct relayed m = {.what = RELAYED_PIECE,
		.job = l->job,
		.piece = p,
		.src = f->source->station,
		.dst = r->dst,
		.xfer = r->xfer,
		.shared = f->served > 0};
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	if (part == l->to ? fanned_take_piece(w, &m) == 0 : relay_push(w, l->relay[part], &m))
		return true;
	atomic_fetch_sub_explicit(&p->refs, 1, memory_order_relaxed);
	return false;
}

static bool hand_out(struct worker *w, struct fanout *f)
{
	bool moved = false;
	while (f->head) {
		struct piece *p = f->head;
		for (; f->next < f->n; f->next++) {
			const struct fanout_receiver *r = &f->receiver[f->next];
			if (r->state != FANOUT_TAKES)
				continue;
			if (!hand(w, f, p, r))
				return moved;
			f->served++;
			moved = true;
		}
		f->head = p->next;
		if (!f->head)
			f->tail = &f->head;
		f->next = f->served = 0;
		loan_put(w, p);
	}
	return moved;
}

static bool read_on(struct worker *w, struct fanout *f)
{
	bool moved = false;
	while (f->source && f->started < f->total && may_read(w, f) && start_read(w, f))
		moved = true;
	return moved;
}

/* Have other transfers had all the pieces for too long? */
static bool is_hungry(struct worker *w, struct fanout *f)
{
	return f->source && f->taking > 0 && f->out == 0 && f->started < f->total && w->staging.nfree == 0 &&
	       staging_is_overdue(&w->staging, &f->hungry, f->source->zlink->peer);
}

/* The round is over. No piece of it is under way, and the bytes that were written do not count. */
static bool decline(struct worker *w, struct fanout *f)
{
	struct lane *l = f->source->lane;
	for (uint32_t i = 0; i < f->n; i++) {
		struct fanout_receiver *r = &f->receiver[i];
		const struct relayed m = {.what = RELAYED_DECLINE,
			.job = l->job,
			.src = f->source->station,
			.dst = r->dst,
			.xfer = r->xfer};
		if (r->state != FANOUT_TAKES)
			continue;
		uint32_t part = l->place[r->dst].part;
		if (part == l->to)
			fanned_take_decline(w, &m);
		else if (!relay_push(w, l->relay[part], &m))
			return false; /* the other receivers later */
		r->state = FANOUT_LEFT;
		f->taking--;
	}
	return true;
}

/* --- turns --- */

/* The source is lost: pieces that have come in go nowhere. */
static void let_go(struct worker *w, struct fanout *f)
{
	while (f->head) {
		struct piece *p = f->head;
		f->head = p->next;
		loan_put(w, p);
	}
	if (f->out == 0)
		fanout_destroy(w, f);
}

static bool turn(struct worker *w, struct fanout *f)
{
	bool moved = false;
	if (!f->source) {
		let_go(w, f);
		return false;
	}
	if (!f->begun)
		return false;
	moved |= hand_out(w, f);
	if (is_time(f))
		begin_round(f);
	if (f->taking > 0)
		moved |= read_on(w, f);
	if (is_hungry(w, f))
		moved |= decline(w, f);
	if (f->source && f->taking > 0 && f->started == f->total && f->reading == 0 && !f->head)
		end_round(f);
	if (f->source && f->offered + f->ready + f->taking + f->out == 0)
		fanout_destroy(w, f);
	return moved;
}

bool reader_turn(struct worker *w)
{
	struct list *node, *after;
	if (__builtin_expect(list_empty(&w->fanouts), 1))
		return false;
	bool moved = loan_collect(w);
	list_for_each(node, after, &w->fanouts)
		moved |= turn(w, list_entry(node, struct fanout, of_worker));
	return moved;
}

void reader_fini(struct worker *w)
{
	struct list *node, *after;
	loan_collect(w);
	list_for_each(node, after, &w->fanouts)
		let_go(w, list_entry(node, struct fanout, of_worker));
}
