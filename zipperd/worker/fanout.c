/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers to several receivers: the reader's side, see fanout.h. */
#include "zipperd/worker/fanout.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "common/base/clock.h"

/* --- pieces --- */

static void came_home(struct worker *w, struct piece *p)
{
	p->fanout->out--;
	w->lent--;
	staging_put(&w->staging, p);
}

void fanout_put_piece(struct worker *w, struct piece *p)
{
	if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (p->home == w) {
		came_home(w, p);
		return;
	}
	/* Taken all at once by its owner, as bodies are (multicast.c). It waits for them to read on. */
	struct worker *home = p->home;
	_Atomic(struct piece *) *head = &home->ports->pieces;
	p->next = atomic_load_explicit(head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(head, &p->next, p, memory_order_release, memory_order_relaxed))
		;
	eventfd_write(home->wake_fd, 1);
}

static bool collect(struct worker *w)
{
	if (!atomic_load_explicit(&w->ports->pieces, memory_order_relaxed))
		return false;
	struct piece *p = atomic_exchange_explicit(&w->ports->pieces, NULL, memory_order_acquire);
	while (p) {
		struct piece *next = p->next;
		came_home(w, p);
		p = next;
	}
	return true;
}

/* --- offers --- */

struct fanout *fanout_create(struct source *s, const struct zwire_env *env, const uint8_t key[ZRMA_KEY_BYTES],
	uint32_t n)
{
	struct worker *w = s->lane->worker;
	if (env->offset == 0 || s->ntransfers >= TRANSFER_OFFERS_MAX || !transfer_can_read(s) || w->staging.stuck)
		return NULL;
	struct buf *b = pool_get(&w->pool, (uint32_t)(sizeof(struct fanout) + n * sizeof(struct fanout_receiver)));
	if (!b)
		return NULL;
	struct fanout *f = (struct fanout *)(void *)b->payload;
	*f = (struct fanout){.source = s,
		.buf = b,
		.id = ++w->fanout_serial,
		.total = env->offset,
		.n = n,
		.patience_ns =
			(int64_t)(env->xfer < FANOUT_PATIENCE_MAX_MS ? env->xfer : FANOUT_PATIENCE_MAX_MS) * 1000000};
	f->tail = &f->head;
	memcpy(f->key, key, ZRMA_KEY_BYTES);
	memset(f->receiver, 0, n * sizeof(struct fanout_receiver));
	list_add(&w->fanouts, &f->of_worker);
	list_add(&s->fanouts, &f->of_source);
	s->ntransfers++;
	return f;
}

int fanout_offer(struct fanout *f, uint32_t receiver, const struct zwire_env *env)
{
	struct lane *l = f->source->lane;
	uint32_t part = l->place[env->dst].part;
	const struct fan fan = {.id = f->id, .reader = l->worker, .receiver = receiver, .part = l->to};
	struct zwire_env plain = *env;
	int rc = 1;
	plain.len = 0;
	if (part == l->to) {
		rc = transfer_offer_fanned(l, &plain, &fan);
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

void fanout_begin(struct fanout *f)
{
	f->begun = true;
}

static uint32_t *counter_of(struct fanout *f, enum fanout_state state)
{
	return state == FANOUT_OFFERED ? &f->offered : state == FANOUT_READY ? &f->ready : &f->taking;
}

void fanout_hear(struct worker *w, const struct fan *fan, enum relayed_what what)
{
	struct list *node = w->fanouts.next;
	while (node != &w->fanouts && list_entry(node, struct fanout, of_worker)->id != fan->id)
		node = node->next;
	if (node == &w->fanouts)
		return; /* it is over */
	struct fanout *f = list_entry(node, struct fanout, of_worker);
	struct fanout_receiver *r = &f->receiver[fan->receiver];
	if (r->state == FANOUT_LEFT || (what == RELAYED_READY && r->state != FANOUT_OFFERED))
		return;
	--*counter_of(f, r->state);
	r->state = what == RELAYED_READY ? FANOUT_READY : FANOUT_LEFT;
	if (what != RELAYED_READY)
		return;
	if (f->ready++ == 0)
		f->since_ns = zclock_ns();
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

/* One that waits longer than that for others goes without them. */
static bool is_time(const struct fanout *f)
{
	return f->ready > 0 && f->taking == 0 && f->reading == 0 && !f->head &&
	       (f->offered == 0 || zclock_ns() - f->since_ns >= f->patience_ns);
}

/* As a receiver's share: a fan-out that is slow must not have all the staging; nor must all of them, which may wait for
 * one receiver. But each may have one piece, if there is one. */
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
	int rc = transfer_read_piece(w, s, f->key, p);
	if (rc != 0) {
		staging_put(&w->staging, p);
		if (rc != -EAGAIN)
			worker_lose_source(w, s, rc);
		return false;
	}
	f->started += len;
	f->reading++;
	f->out++;
	f->hungry.since_ms = 0;
	w->lent++;
	return true;
}

void fanout_came_in(struct worker *w, struct piece *p, int rc)
{
	struct fanout *f = p->fanout;
	f->reading--;
	if (rc != 0 || !f->source) { /* why it failed is told when the half's end is */
		came_home(w, p);
		return;
	}
	atomic_store_explicit(&p->refs, 1, memory_order_relaxed); /* ours, until all have it */
	p->next = NULL;
	*f->tail = p;
	f->tail = &p->next;
}

/* To one receiver of the round. false: not now. */
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
		fanout_put_piece(w, p);
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

/* All pieces are others', and have been for too long. */
static bool is_hungry(struct worker *w, struct fanout *f)
{
	return f->source && f->taking > 0 && f->out == 0 && f->started < f->total && w->staging.nfree == 0 &&
	       staging_is_overdue(&w->staging, &f->hungry, f->source->zlink->peer);
}

/* The round is over: all that its receivers have of it is written, and does not count. */
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
			return false; /* the others later */
		r->state = FANOUT_LEFT;
		f->taking--;
	}
	return true;
}

static void destroy(struct worker *w, struct fanout *f)
{
	if (f->source) {
		list_del(&f->of_source);
		f->source->ntransfers--;
	}
	list_del(&f->of_worker);
	pool_put(&w->pool, f->buf);
	w->freed = true;
}

/* Its source is lost: what has come in goes nowhere. */
static void let_go(struct worker *w, struct fanout *f)
{
	while (f->head) {
		struct piece *p = f->head;
		f->head = p->next;
		fanout_put_piece(w, p);
	}
	if (f->out == 0)
		destroy(w, f);
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
		destroy(w, f);
	return moved;
}

bool fanout_turn(struct worker *w)
{
	struct list *node, *after;
	if (__builtin_expect(list_empty(&w->fanouts), 1))
		return false;
	bool moved = collect(w);
	list_for_each(node, after, &w->fanouts)
		moved |= turn(w, list_entry(node, struct fanout, of_worker));
	return moved;
}

bool fanout_waits(const struct worker *w)
{
	for (const struct list *node = w->fanouts.next; node != &w->fanouts; node = node->next) {
		const struct fanout *f = list_entry(node, struct fanout, of_worker);
		if (f->head || f->reading > 0 || f->taking > 0 || f->ready > 0)
			return true;
	}
	return false;
}

/* --- ends --- */

void fanout_source_gone(struct worker *w, struct source *s)
{
	(void)w;
	s->fanout = NULL;
	while (!list_empty(&s->fanouts)) {
		struct fanout *f = list_entry(s->fanouts.next, struct fanout, of_source);
		list_del(&f->of_source);
		s->ntransfers--;
		f->source = NULL;
	}
}

void fanout_fini(struct worker *w)
{
	struct list *node, *after;
	collect(w);
	list_for_each(node, after, &w->fanouts)
		let_go(w, list_entry(node, struct fanout, of_worker));
}
