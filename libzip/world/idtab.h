/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for objects: request and message handles, transfer ids. A number that was given back does not soon return,
 * so that a stale number is noticed. The owner of the struct synchronises. No MPI in here.
 */
#ifndef ZIP_LIBZIP_IDTAB_H
#define ZIP_LIBZIP_IDTAB_H

#include <stddef.h>
#include <stdint.h>

/* An id: bits 0..19 slot + 1, bits 20..25 (without spare_bits) generation. Never 0, and below 2^26, so it fits the
 * index bits of a native handle. */
#define ZIDTAB_INDEX_BITS 20
#define ZIDTAB_ID_BITS 26

struct zidtab_slot {
	void *object; /* NULL: free */
	uint32_t id;  /* id of the object, or of the next object here */
	uint32_t next_free;
};

struct zidtab {
	struct zidtab_slot *slot;
	uint32_t size, used; /* slots allocated, objects */
	uint32_t free_head;  /* slot + 1, 0: none */
	uint32_t spare_bits; /* so many top bits of an id are always 0, for an owner of several tables */
};

/* Adds an object to a table; an empty table is all zero. Returns the id, or 0: no memory, or a million objects. */
uint32_t zidtab_add(struct zidtab *, void *object);
/* NULL: no such id. Any number may be asked for. */
static inline void *zidtab_find(const struct zidtab *t, uint64_t id)
{
	uint32_t i = (uint32_t)(id & ((1u << ZIDTAB_INDEX_BITS) - 1));

	if (i == 0 || i > t->size || t->slot[i - 1].id != id)
		return NULL;
	return t->slot[i - 1].object;
}
void zidtab_del(struct zidtab *, uint32_t id);
void zidtab_fini(struct zidtab *);

#endif
