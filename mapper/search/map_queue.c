/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/search/map_queue.h"

int map_queue_push_stamped(struct map_queue *q, const struct map_entry *e)
{
	size_t at;

	if (q->n == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 256;
		struct map_entry *more = realloc(q->entry, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		q->entry = more;
		q->cap = cap;
	}
	for (at = q->n++; at && map_entry_before(e, &q->entry[(at - 1) / 2]); at = (at - 1) / 2)
		q->entry[at] = q->entry[(at - 1) / 2];
	q->entry[at] = *e;
	return 0;
}

int map_queue_push(struct map_queue *q, __int128 cost, uint32_t rank, uint32_t to)
{
	struct map_entry e = {.cost = cost, .rank = rank, .to = to};

	return map_queue_push_stamped(q, &e);
}

bool map_queue_pop(struct map_queue *q, struct map_entry *out)
{
	struct map_entry last;
	size_t at = 0;

	if (!q->n)
		return false;
	*out = q->entry[0];
	last = q->entry[--q->n];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= q->n)
			break;
		child += child + 1 < q->n && map_entry_before(&q->entry[child + 1], &q->entry[child]);
		if (!map_entry_before(&q->entry[child], &last))
			break;
		q->entry[at] = q->entry[child];
		at = child;
	}
	q->entry[at] = last;
	return true;
}

void map_queue_free(struct map_queue *q)
{
	free(q->entry);
	*q = (struct map_queue){0};
}
