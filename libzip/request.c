/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own requests: making, handles, completion, release. See request.h. */
#include "request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "comm.h"
#include "idtab.h"
#include "pool.h"

#define HANDLE_KIND 0x2c000000u
#define HANDLE_INDEX ((1u << ZIDTAB_ID_BITS) - 1)

/* Requests and messages have tables of their own: a request handle given where a message is wanted is not found. */
static struct zidtab requests, messages;

static struct zreq *orphans; /* that are looked after */

struct zreq *zreq_create(const struct zreq_ops *ops, size_t bytes, struct zcomm *comm)
{
	assert(bytes >= sizeof(struct zreq));
	struct zreq *r = zpool_get(bytes);

	if (!r)
		return NULL;
	memset(r, 0, bytes);
	r->ops = ops;
	r->handle = MPI_REQUEST_NULL;
	r->comm = comm;
	if (comm)
		zcomm_ref(comm);
	return r;
}

int zreq_publish(struct zreq *r, MPI_Request *handle)
{
	if (r->handle == MPI_REQUEST_NULL) {
		uint32_t id = zidtab_add(&requests, r);
		if (id == 0)
			return MPI_ERR_NO_MEM;
		r->handle = (MPI_Request)(HANDLE_KIND | id);
	}
	*handle = r->handle;
	return MPI_SUCCESS;
}

struct zreq *zreq_find(MPI_Request handle)
{
	if (!zreq_is_ours(handle))
		return NULL;
	return zidtab_find(&requests, (uint32_t)handle & HANDLE_INDEX);
}

void zreq_complete(struct zreq *r)
{
	r->done = true;
	if (r->orphan)
		zreq_release(r);
}

void zreq_release(struct zreq *r)
{
	if (r->immortal)
		return;
	if (r->ops->destroy)
		r->ops->destroy(r);
	if (r->handle != MPI_REQUEST_NULL)
		zidtab_del(&requests, (uint32_t)r->handle & HANDLE_INDEX);
	if (r->comm)
		zcomm_unref(r->comm);
	zpool_put(r);
}

void zreq_look_after(struct zreq *r)
{
	r->next = orphans;
	orphans = r;
}

bool zreq_poll_orphans(void)
{
	bool did = false;

	for (struct zreq **at = &orphans; *at;) {
		struct zreq *next = (*at)->next; /* one that is complete is gone */
		if ((*at)->ops->progress(*at)) {
			*at = next;
			did = true;
		} else {
			at = &(*at)->next;
		}
	}
	return did;
}

int zmessage_publish(void *object, MPI_Message *handle)
{
	uint32_t id = zidtab_add(&messages, object);

	if (id == 0)
		return -ENOMEM;
	*handle = (MPI_Message)(HANDLE_KIND | id);
	return 0;
}

void *zmessage_find(MPI_Message handle)
{
	if (!zreq_is_ours((MPI_Request)handle))
		return NULL;
	return zidtab_find(&messages, (uint32_t)handle & HANDLE_INDEX);
}

void zmessage_drop(MPI_Message handle)
{
	zidtab_del(&messages, (uint32_t)handle & HANDLE_INDEX);
}
