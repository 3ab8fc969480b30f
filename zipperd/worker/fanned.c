/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers of fan-outs, in the workers of the lanes that lead to them; see fanout.h. */
#include <errno.h>
#include <stdlib.h>

#include "zipperd/worker/fanout.h"

/* Another worker's staging, as the links of this one know it. */
struct borrowed {
	struct borrowed *next;
	const struct worker *of;
	struct registered block;
};

int fanned_say(struct worker *w, const struct transfer *t, enum relayed_what what)
{
	struct lane *l = t->dest->lane;
	if (t->fan.reader == w) {
		fanout_hear(w, &t->fan, what);
		return 0;
	}
	const struct relayed m = {.what = what, .job = l->job, .fan = t->fan};
	return relay_push(w, l->relay[t->fan.part], &m) ? 0 : -EAGAIN;
}

int fanned_take_offer(struct worker *w, struct relayed *m)
{
	struct zwire_env env;
	struct lane *l = zwire_decode(&env, m->env) == 0 ? worker_lane(w, m->job, env.src, env.dst) : NULL;
	if (!l)
		return 0; /* the job is over */
	struct relay *back = l->relay[m->fan.part];
	if (!back)
		return -EAGAIN; /* is about to be known */
	if (!m->refused) {
		int rc = transfer_offer_fanned(l, &env, &m->fan);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		m->refused = true;
	}
	const struct relayed left = {.what = RELAYED_LEFT, .job = m->job, .fan = m->fan};
	return relay_answer(w, back, &left);
}

int fanned_take_piece(struct worker *w, const struct relayed *m)
{
	struct lane *l = worker_lane(w, m->job, m->src, m->dst);
	struct transfer *t = l ? transfer_find(l, m->src, m->xfer) : NULL;
	if (!t || !t->fanned || t->state != TRANSFER_RUNNING || !t->dest->tx) { /* it has ended meanwhile */
		fanout_put_piece(w, m->piece);
		return 0;
	}
	struct buf *b = pool_get(&w->pool, sizeof(struct carry));
	if (!b)
		return -EAGAIN;
	struct carry *c = (struct carry *)(void *)b->payload;
	*c = (struct carry){.transfer = t, .piece = m->piece, .buf = b, .shared = m->shared};
	transfer_carry(w, c);
	return 0;
}

void fanned_take_decline(struct worker *w, const struct relayed *m)
{
	struct lane *l = worker_lane(w, m->job, m->src, m->dst);
	struct transfer *t = l ? transfer_find(l, m->src, m->xfer) : NULL;
	if (t && t->fanned && t->state == TRANSFER_RUNNING)
		transfer_decline(w, t);
}

static struct registered *borrow(struct worker *w, const struct worker *reader)
{
	struct borrowed *b = w->borrowed;
	while (b && b->of != reader)
		b = b->next;
	if (b)
		return &b->block;
	b = calloc(1, sizeof(*b)); /* once for each pair of workers */
	if (!b)
		return NULL;
	/* Was there before the offer was relayed, and stays as it is. */
	b->of = reader;
	b->block.memory = reader->staging.block.memory;
	b->block.bytes = reader->staging.block.bytes;
	b->next = w->borrowed;
	w->borrowed = b;
	return &b->block;
}

int fanned_admit(struct worker *w, struct transfer *t, struct zerr *err)
{
	struct tx *tx = t->dest->tx;
	struct zrma_limits limits;
	err->text[0] = '\0';
	if (t->borrows)
		return 0;
	tx->zlink->ops->rma->limits(tx->zlink, &limits);
	if (limits.max_bytes < t->fan.reader->staging.piece_bytes)
		return -EOPNOTSUPP;
	if (t->fan.reader == w) {
		t->region = tx->region;
		return 0;
	}
	struct registered *block = borrow(w, t->fan.reader);
	int rc = block ? registered_admit(block, tx->zlink, ZLINK_TX, &t->region, err) : -ENOMEM;
	t->borrows = rc == 0;
	return rc;
}

void fanned_leave(struct worker *w, struct transfer *t)
{
	if (!t->borrows)
		return;
	t->borrows = false;
	registered_leave(borrow(w, t->fan.reader), t->region);
}

void fanned_forget(struct worker *w, const struct zlink *z)
{
	for (struct borrowed *b = w->borrowed; b; b = b->next)
		registered_forget(&b->block, z, ZLINK_TX);
}

void fanned_fini(struct worker *w)
{
	while (w->borrowed) {
		struct borrowed *b = w->borrowed;
		w->borrowed = b->next;
		registered_fini(&b->block);
		free(b);
	}
}
