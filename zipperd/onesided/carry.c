/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of pieces, see carry.h. */
#include "zipperd/onesided/carry.h"

#include <errno.h>

#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"

int carry_read(struct worker *w, struct source *s, const uint8_t key[ZRMA_KEY_BYTES], struct piece *p)
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

/* false: the link has no room now. */
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
	dest_lose_tx(w, t->dest, rc); /* makes the transfer DEAD; the piece still keeps it */
	transfer_drop_carry(w, c);
	return true;
}

void carry_write(struct worker *w, struct carry *c)
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

void carry_start(struct worker *w, struct carry *c)
{
	c->transfer->pieces++;
	c->transfer->dest->staged++;
	carry_write(w, c);
}

int carry_write_waiting(struct worker *w, struct tx *tx)
{
	int total = 0;
	while (tx->waiting) {
		struct carry *c = tx->waiting;
		tx->waiting = c->next;
		if (c->transfer->state == TRANSFER_DEAD) {
			transfer_drop_carry(w, c);
		} else if (!start_write(w, c)) {
			c->next = tx->waiting;
			tx->waiting = c;
			break;
		}
		total++;
	}
	return total;
}
