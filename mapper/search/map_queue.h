/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves that wait for their turn, the cheapest first. Entries grow old: the taker of an entry has to check whether it
 * still holds. */
#ifndef ZIP_MAPPER_MAP_QUEUE_H
#define ZIP_MAPPER_MAP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	__int128 cost;
	uint32_t chance; /* of equal costs the least chance comes first */
	uint32_t rank, to;
	uint32_t stamp; /* the caller's */
};

static inline bool map_entry_before(const struct map_entry *a, const struct map_entry *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->chance < b->chance;
}

struct map_queue {
	struct map_entry *entry;
	size_t n, cap;
};

/* 0 or -ENOMEM. */
int map_queue_push(struct map_queue *, __int128 cost, uint32_t rank, uint32_t to);
int map_queue_push_stamped(struct map_queue *, const struct map_entry *);
bool map_queue_pop(struct map_queue *, struct map_entry *);
static inline const struct map_entry *map_queue_top(const struct map_queue *q)
{
	return q->n ? &q->entry[0] : NULL;
}
void map_queue_free(struct map_queue *);

#endif
