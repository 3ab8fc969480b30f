/* SPDX-License-Identifier: BSD-3-Clause */
/* Events to come, by time: a binary heap of items. Their owners keep them and may move them. One thread. */
#ifndef ZIP_MAPPER_AGENDA_H
#define ZIP_MAPPER_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The structure that an item is part of. */
enum agenda_kind { AGENDA_RANK, AGENDA_MESSAGE, AGENDA_POOL };

struct agenda_item {
	double time;	/* seconds */
	uint64_t order; /* decides between items at the same time: the earlier one that was put there */
	size_t at;	/* 1 + index in agenda.heap; 0: it is not there. Zeroed in the beginning */
	enum agenda_kind kind;
};

/* Zeroed, it is empty. */
struct agenda {
	struct agenda_item **heap; /* [n] */
	size_t n, room;
	uint64_t order;
};

/* Puts an item at a time, or moves it there. 0 or -ENOMEM; moving never fails. */
int agenda_put(struct agenda *, struct agenda_item *, double time);
/* Takes an item out, if it is there. */
void agenda_drop(struct agenda *, struct agenda_item *);
/* The first item, which stays there; NULL: there is none. */
static inline struct agenda_item *agenda_first(const struct agenda *a)
{
	return a->n ? a->heap[0] : NULL;
}
void agenda_free(struct agenda *);

#endif
