/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes in use. See typehold.h. */
#include "libzip/type/typehold.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "libzip/type/data.h"
#include "libzip/shim/station.h"
#include "libzip/shim/shim.h"

#define BUCKETS 64u

/* An entry for each handle that was ever held at a station. It stays when nothing holds it, so that the data path
 * allocates nothing. Later another datatype may have the same handle. */
struct held {
	struct held *next;
	MPI_Datatype type;
	unsigned uses;
	struct held *freed; /* freed by the application: the entry that counts the stations still holding it */
	atomic_int stations;
	struct held *dead; /* next entry without users */
};

static struct {
	struct held *bucket[BUCKETS];
} stations[ZSTATIONS_MAX];

static _Atomic(struct held *) dead;

static struct held **bucket_of(MPI_Datatype t)
{
	return &stations[zstation_here].bucket[zabi_hash(t) % BUCKETS];
}

static struct held *find(MPI_Datatype t)
{
	struct held *h = *bucket_of(t);

	while (h && h->type != t)
		h = h->next;
	return h;
}

int ztypehold_take(MPI_Datatype t)
{
	struct held *h = find(t);

	if (!h && ztype_find(t)->builtin)
		return MPI_SUCCESS;
	if (!h) {
		h = calloc(1, sizeof(*h));
		if (!h)
			return MPI_ERR_NO_MEM;
		h->type = t;
		h->next = *bucket_of(t);
		*bucket_of(t) = h;
	}
	h->uses++;
	return MPI_SUCCESS;
}

void ztypehold_release(MPI_Datatype t)
{
	struct held *h = find(t);

	if (!h)
		return;
	assert(h->uses > 0);
	if (--h->uses > 0 || !h->freed)
		return;
	struct held *first = h->freed;
	h->freed = NULL;
	ztype_forget_here(t);
	if (atomic_fetch_sub_explicit(&first->stations, 1, memory_order_acq_rel) > 1)
		return;
	first->dead = atomic_load_explicit(&dead, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&dead, &first->dead, first, memory_order_release,
		memory_order_relaxed))
		;
}

/* Leaves the freeing to the users at this station. */
static void leave_to_users(MPI_Datatype t, struct held **first)
{
	struct held *h = find(t);

	if (!h || h->uses == 0)
		return;
	if (!*first) {
		*first = h;
		atomic_store_explicit(&h->stations, 0, memory_order_relaxed);
	}
	h->freed = *first;
	atomic_fetch_add_explicit(&(*first)->stations, 1, memory_order_relaxed);
}

void ztypehold_reap(void)
{
	struct held *h = atomic_exchange_explicit(&dead, NULL, memory_order_acquire);

	while (h) {
		struct held *next = h->dead;
		MPI_Datatype t = h->type;

		zshim_callback_begin(); /* runs attribute callbacks */
		zn.Type_free(&t);
		zshim_callback_end();
		h = next;
	}
}

int ztypehold_free(MPI_Datatype *type)
{
	struct held *first = NULL;
	int rc = MPI_SUCCESS;

	ztypehold_reap();
	ztype_forget(*type);
	zstation_for_each(0)
		leave_to_users(*type, &first);
	if (first) {
		*type = MPI_DATATYPE_NULL;
		return MPI_SUCCESS;
	}
	zshim_callback_begin();
	rc = zn.Type_free(type);
	zshim_callback_end();
	return rc;
}

void ztypehold_drop(MPI_Datatype t)
{
	struct held *first = NULL;

	ztype_forget_here(t);
	leave_to_users(t, &first);
	if (!first)
		zn.Type_free(&t);
}
