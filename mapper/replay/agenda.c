/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of items, see agenda.h. */
#include "mapper/replay/agenda.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct agenda_item *a, const struct agenda_item *b)
{
	return a->time < b->time || (!(b->time < a->time) && a->order < b->order);
}

static void set(struct agenda *a, size_t at, struct agenda_item *item)
{
	a->heap[at] = item;
	item->at = at + 1;
}

/* Finds the place of an item that may go to place `at`, and moves others out of its way. */
static void settle(struct agenda *a, size_t at, struct agenda_item *item)
{
	size_t child;

	while (at && before(item, a->heap[(at - 1) / 2])) {
		set(a, at, a->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	while ((child = 2 * at + 1) < a->n) {
		child += child + 1 < a->n && before(a->heap[child + 1], a->heap[child]);
		if (!before(a->heap[child], item))
			break;
		set(a, at, a->heap[child]);
		at = child;
	}
	set(a, at, item);
}

int agenda_put(struct agenda *a, struct agenda_item *item, double time)
{
	item->time = time;
	item->order = a->order++;
	if (item->at) {
		settle(a, item->at - 1, item);
		return 0;
	}
	if (a->n == a->room) {
		size_t room = a->room ? 2 * a->room : 64;
		struct agenda_item **more = realloc(a->heap, room * sizeof(struct agenda_item *));

		if (!more)
			return -ENOMEM;
		a->heap = more;
		a->room = room;
	}
	settle(a, a->n++, item);
	return 0;
}

void agenda_drop(struct agenda *a, struct agenda_item *item)
{
	struct agenda_item *last;
	size_t at = item->at - 1;

	if (!item->at)
		return;
	item->at = 0;
	last = a->heap[--a->n];
	if (last != item)
		settle(a, at, last);
}

void agenda_free(struct agenda *a)
{
	free(a->heap);
	*a = (struct agenda){0};
}
