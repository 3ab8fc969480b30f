/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for objects. See idtab.h. */
#include "libzip/world/idtab.h"

#include <assert.h>
#include <stdlib.h>

#define INDEX_MAX ((1u << ZIDTAB_INDEX_BITS) - 1)
#define FIRST_SLOTS 64

static int grow(struct zidtab *t)
{
	uint32_t size = t->size ? t->size * 2 : FIRST_SLOTS;

	if (size > INDEX_MAX)
		size = INDEX_MAX;
	if (size == t->size)
		return -1;
	struct zidtab_slot *slot = realloc(t->slot, size * sizeof(*slot));
	if (!slot)
		return -1;
	t->slot = slot;
	for (uint32_t i = size; i > t->size; i--) { /* the lowest slot is used first */
		slot[i - 1] = (struct zidtab_slot){.id = i, .next_free = t->free_head};
		t->free_head = i;
	}
	t->size = size;
	return 0;
}

uint32_t zidtab_add(struct zidtab *t, void *object)
{
	assert(object);
	if (!t->free_head && grow(t) != 0)
		return 0;
	struct zidtab_slot *s = &t->slot[t->free_head - 1];
	t->free_head = s->next_free;
	s->object = object;
	t->used++;
	return s->id;
}

void zidtab_del(struct zidtab *t, uint32_t id)
{
	assert(zidtab_find(t, id));
	uint32_t i = id & INDEX_MAX;
	struct zidtab_slot *s = &t->slot[i - 1];
	s->object = NULL;
	s->id = (id + (1u << ZIDTAB_INDEX_BITS)) & ((1u << (ZIDTAB_ID_BITS - t->spare_bits)) - 1);
	s->next_free = t->free_head;
	t->free_head = i;
	t->used--;
}

void zidtab_fini(struct zidtab *t)
{
	free(t->slot);
	*t = (struct zidtab){0};
}
