/* SPDX-License-Identifier: BSD-3-Clause */
/* Other workers' staging memory, see borrowed.h. */
#include "zipperd/lane/borrowed.h"

#include <errno.h>
#include <stdlib.h>

#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"

/* Another worker's staging memory. */
struct borrowed {
	struct borrowed *next;
	const struct worker *owner;
	struct registered block;
};

static struct registered *borrow(struct worker *w, const struct worker *reader)
{
	struct borrowed *b = w->borrowed;
	while (b && b->owner != reader)
		b = b->next;
	if (b)
		return &b->block;
	b = calloc(1, sizeof(*b)); /* once for each pair of workers */
	if (!b)
		return NULL;
	/* The reader has allocated it before it relayed the offer, and it stays as it is. */
	b->owner = reader;
	b->block.memory = reader->staging.block.memory;
	b->block.bytes = reader->staging.block.bytes;
	b->next = w->borrowed;
	w->borrowed = b;
	return &b->block;
}

int borrowed_join(struct worker *w, struct transfer *t, struct zerr *err)
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
	int rc = block ? registered_join(block, tx->zlink, ZLINK_TX, &t->region, err) : -ENOMEM;
	t->borrows = rc == 0;
	return rc;
}

void borrowed_leave(struct worker *w, struct transfer *t)
{
	if (!t->borrows)
		return;
	t->borrows = false;
	registered_leave(borrow(w, t->fan.reader), t->region);
}

void borrowed_forget(struct worker *w, const struct zlink *z)
{
	for (struct borrowed *b = w->borrowed; b; b = b->next)
		registered_forget(&b->block, z, ZLINK_TX);
}

void borrowed_fini(struct worker *w)
{
	while (w->borrowed) {
		struct borrowed *b = w->borrowed;
		w->borrowed = b->next;
		registered_fini(&b->block);
		free(b);
	}
}
