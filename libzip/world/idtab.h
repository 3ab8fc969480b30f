/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for objects: request and message handles, transfer ids. A number that has been given back is not given out
 * again soon, so that a stale one is noticed. Owned by whoever has the struct. No MPI in here.
 */
#ifndef ZIP_LIBZIP_IDTAB_H
#define ZIP_LIBZIP_IDTAB_H

#include <stddef.h>
#include <stdint.h>

/* An id: bits 0..19 slot + 1, bits 20..25 (but for spare_bits) generation. Never 0, and below 2^26: fits a native
 * handle's index bits. */
#define ZIDTAB_INDEX_BITS 20
#define ZIDTAB_ID_BITS 26

struct zidtab_slot {
	void *object; /* NULL: free */
	uint32_t id;  /* of the object, or what the next one will get */
	uint32_t next_free;
};

struct zidtab {
	struct zidtab_slot *slot;
	uint32_t size, used; /* slots allocated, objects */
	uint32_t free_head;  /* slot + 1, 0: none */
	uint32_t spare_bits; /* so many at the top of an id are always 0: for whoever has several tables */
};

/* All zero is an empty table. Returns the id, or 0: no memory (or a million objects). */
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
