/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the library: making, handles, completion, release. See req.h. */
#include "libzip/world/req.h"

#include <assert.h>
#include <string.h>

#include "libzip/world/comm.h"
#include "libzip/shim/station.h"
#include "libzip/world/idtab.h"
#include "libzip/shim/pool.h"

_Static_assert((1u << ZIDTAB_ID_BITS) - 1 <= ZABI_ID_MAX, "a handle has room for an id");
_Static_assert(ZSTATIONS_MAX <= 1 << (ZIDTAB_ID_BITS - ZIDTAB_INDEX_BITS),
	"a request's handle has room for its station");

static struct {
	struct zidtab requests;
	struct zreq *orphans; /* orphans that zreq_poll_orphans looks at */
} stations[ZSTATIONS_MAX];

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
	r->station = zstation_here;
	if (comm)
		zcomm_ref(comm);
	return r;
}

/* The index in a handle: the station in the highest zstation_bits, and below them the id from the station's table. */
static unsigned station_shift(void)
{
	return ZIDTAB_ID_BITS - (unsigned)zstation_bits;
}

int zreq_station_of(MPI_Request handle)
{
	return (int)(zabi_own_request_id(handle) >> station_shift());
}

static uint32_t id_of(MPI_Request handle)
{
	return zabi_own_request_id(handle) & ((1u << station_shift()) - 1);
}

int zreq_publish(struct zreq *r, MPI_Request *handle)
{
	if (r->handle == MPI_REQUEST_NULL) {
		struct zidtab *table = &stations[r->station].requests;
		table->spare_bits = (uint32_t)zstation_bits;
		uint32_t id = zidtab_add(table, r);
		if (id == 0)
			return MPI_ERR_NO_MEM;
		r->handle = zabi_own_request((uint32_t)r->station << station_shift() | id);
	}
	*handle = r->handle;
	return MPI_SUCCESS;
}

struct zreq *zreq_find(MPI_Request handle)
{
	if (!zreq_is_ours(handle))
		return NULL;
	return zidtab_find(&stations[zreq_station_of(handle)].requests, id_of(handle));
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
	const int was = zstation_visit(r->station);
	if (r->ops->destroy)
		r->ops->destroy(r);
	if (r->handle != MPI_REQUEST_NULL)
		zidtab_del(&stations[zstation_here].requests, id_of(r->handle));
	if (r->comm)
		zcomm_unref(r->comm);
	zpool_put(r);
	zstation_return(was);
}

bool zreq_progress(struct zreq *r)
{
	const int was = zstation_visit(r->station);
	bool done = r->ops->progress(r);

	zstation_return(was);
	return done;
}

int zreq_start(struct zreq *r)
{
	const int was = zstation_visit(r->station);
	int rc = r->ops->start(r);

	zstation_return(was);
	return rc;
}

int zreq_cancel(struct zreq *r)
{
	const int was = zstation_visit(r->station);
	int rc = r->ops->cancel(r);

	zstation_return(was);
	return rc;
}

void zreq_look_after(struct zreq *r)
{
	r->next = stations[zstation_here].orphans;
	stations[zstation_here].orphans = r;
}

bool zreq_poll_orphans(void)
{
	bool did = false;

	for (struct zreq **at = &stations[zstation_here].orphans; *at;) {
		struct zreq *next = (*at)->next; /* a complete one is gone */
		if ((*at)->ops->progress(*at)) {
			*at = next;
			did = true;
		} else {
			at = &(*at)->next;
		}
	}
	return did;
}
