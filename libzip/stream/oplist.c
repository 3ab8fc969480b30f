/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of operations, see oplist.h. */
#include "libzip/stream/oplist.h"

#include <assert.h>
#include <stddef.h>

#include "libzip/stream/op.h"

void zoplist_push(struct zoplist *l, struct zop *op)
{
	assert(!op->queued);
	op->queued = true;
	op->next = NULL;
	if (l->tail)
		l->tail->next = op;
	else
		l->head = op;
	l->tail = op;
}

struct zop *zoplist_pop(struct zoplist *l)
{
	struct zop *op = l->head;

	if (op) {
		l->head = op->next;
		if (!l->head)
			l->tail = NULL;
		op->queued = false;
	}
	return op;
}

void zoplist_del(struct zoplist *l, struct zop *op)
{
	struct zop *prev = NULL;

	for (struct zop *o = l->head; o != op; o = o->next)
		prev = o;
	if (prev)
		prev->next = op->next;
	else
		l->head = op->next;
	if (l->tail == op)
		l->tail = prev;
	op->queued = false;
}
