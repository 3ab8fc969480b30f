/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects that were made through a table of operations, in the order of making, so that they can be counted and
 * destroyed. All objects of an endpoint are kept here, whether ep_set.h builds them at once or ep_seat.h builds them
 * thread by thread. One thread.
 */
#ifndef ZIP_COMMON_ENDPOINT_EP_KEPT_H
#define ZIP_COMMON_ENDPOINT_EP_KEPT_H

#include <stddef.h>

#include "common/endpoint/endpoint.h"

struct zep_objects {
	void **at;
	size_t n, cap;
};

struct zep_kept {
	const struct zep_ops *ops;
	void *to; /* first argument of the operations */
	struct zep_objects objects[ZEP_KINDS];
};

/* Takes over an object that the backend made. -ENOMEM with text: the object has been destroyed. */
int zep_kept_add(struct zep_kept *, enum zep_kind, void *object, struct zerr *);
/* Destroys the newest objects of a kind until n of them are left. */
void zep_kept_drop(struct zep_kept *, enum zep_kind, size_t n);
/* Destroys everything, children before parents. */
void zep_kept_drop_all(struct zep_kept *);

#endif
