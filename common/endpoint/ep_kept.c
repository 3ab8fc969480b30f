/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a backend, see ep_kept.h. */
#include "common/endpoint/ep_kept.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct zep_objects *o, void *object)
{
	if (o->n == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 16;
		void **at = realloc(o->at, cap * sizeof(*at));
		if (!at)
			return -ENOMEM;
		o->at = at;
		o->cap = cap;
	}
	o->at[o->n++] = object;
	return 0;
}

int zep_kept_add(struct zep_kept *k, enum zep_kind kind, void *object, struct zerr *err)
{
	if (add(&k->objects[kind], object) == 0)
		return 0;
	k->ops->destroy(k->to, kind, object);
	return zerr_set(err, -ENOMEM, "out of memory");
}

void zep_kept_drop(struct zep_kept *k, enum zep_kind kind, size_t n)
{
	struct zep_objects *o = &k->objects[kind];
	while (o->n > n)
		k->ops->destroy(k->to, kind, o->at[--o->n]);
}

void zep_kept_drop_all(struct zep_kept *k)
{
	for (int kind = ZEP_KINDS - 1; kind >= 0; kind--) {
		zep_kept_drop(k, (enum zep_kind)kind, 0);
		free(k->objects[kind].at);
		k->objects[kind] = (struct zep_objects){.n = 0};
	}
}
