/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives with a native half, see anysource.h. */
#include "libzip/bridge/anysource.h"

#include <limits.h>

#include "libzip/bridge/deliver.h"
#include "libzip/bridge/queue.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/small.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/op.h"
#include "libzip/stream/oplist.h"
#include "libzip/world/error.h"
#include "libzip/world/status.h"

/* Among so many receives and probes from anywhere that find a bridged message waiting, one looks for a native message
 * first. Otherwise a steady stream over the bridge would starve the local ranks, and native progress. */
#define FAIR_TURN 4u

/* bytes of memory for a receive whose message has not come: the message may be much smaller */
#define PACKED_MAX (16 << 20)

/* The place for the message's bytes: the application's buffer or, where the datatype has gaps, memory of ours. NULL: no
 * memory. */
static void *room_for_bytes(struct zop *op, MPI_Count bytes)
{
	if (op->data.dense)
		return op->data.dense;
	if (bytes <= PACKED_MAX)
		op->packed = zpool_get(bytes > 0 ? (size_t)bytes : 1);
	return op->packed;
}

/*
 * A receive that may have to be cancelled has no derived datatype natively. MPICH 4.0.2 over UCX holds a datatype with
 * gaps until UCX has finished with it (MPIDI_UCX_recv), and UCX 1.13 never reports that for a cancelled receive. Then
 * each receive that gets a bridged message would leave its datatype and ours behind for ever. Where there is no memory
 * that is still better than no receive.
 */
static int post_native(struct zop *op)
{
	const struct zcomm *c = op->req.comm;
	int source = op->rank == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : zcomm_shadow_rank(c, op->rank);

	if (source == MPI_ANY_SOURCE && !ztype_find(op->type)->builtin) {
		MPI_Count bytes = ztype_find(op->type)->size * op->count;
		void *to = room_for_bytes(op, bytes);
		if (to && bytes <= zsmall_limit)
			return zn.Irecv_c(to, bytes, MPI_BYTE, source, op->tag, c->shadow, &op->native);
	}
	if (op->count <= INT_MAX)
		return zn.Irecv(op->buf, (int)op->count, op->type, source, op->tag, c->shadow, &op->native);
	return zn.Irecv_c(op->buf, op->count, op->type, source, op->tag, c->shadow, &op->native);
}

/* The last probe that a receive for that tag may follow. */
static int find_probed(const struct zcomm *c, int tag)
{
	int i = c->nprobed - 1;

	while (i >= 0 && c->probed[i].asked != tag && c->probed[i].found != tag && tag != MPI_ANY_TAG)
		i--;
	return i;
}

static void forget_probed(struct zcomm *c, int i)
{
	c->nprobed--;
	for (; i < c->nprobed; i++)
		c->probed[i] = c->probed[i + 1];
}

void zanysource_taken(struct zcomm *c, int tag)
{
	for (int i; (i = find_probed(c, tag)) >= 0;)
		forget_probed(c, i);
}

void zanysource_probed(struct zcomm *c, int asked, int found, bool native)
{
	for (int i = c->nprobed - 1; i >= 0; i--) {
		if (c->probed[i].asked == asked)
			forget_probed(c, i);
	}
	if (c->nprobed == ZCOMM_PROBED_MAX)
		forget_probed(c, 0);
	c->probed[c->nprobed++] = (struct zcomm_probed){asked, found, native};
}

bool zanysource_native_first(const struct zcomm *c, int tag)
{
	int flag = 0, last = find_probed(c, tag);

	if (last >= 0)
		return c->probed[last].native;
	if (zqueue_find(c, MPI_ANY_SOURCE, tag) && ++zstations[c->station].anysource_turn % FAIR_TURN == 0)
		zn.Iprobe(MPI_ANY_SOURCE, tag, c->shadow, &flag, MPI_STATUS_IGNORE);
	return flag != 0;
}

static bool start_from_anywhere(struct zop *op)
{
	struct zcomm *c = op->req.comm;
	bool native = zanysource_native_first(c, op->tag);

	if (c->nprobed > 0)
		zanysource_taken(c, op->tag);
	if (native || !zqueue_find(c, op->rank, op->tag))
		return false;
	zdeliver_start(op);
	return true;
}

int zanysource_start(struct zop *op)
{
	if (op->rank == MPI_ANY_SOURCE && start_from_anywhere(op))
		return MPI_SUCCESS;
	int rc = post_native(op);
	if (rc != MPI_SUCCESS || op->rank != MPI_ANY_SOURCE || zanysource_test(op))
		return rc;
	if (!zqueue_find(op->req.comm, op->rank, op->tag))
		zqueue_post(op);
	else if (zanysource_claim(op)) /* another receive has taken the native message that was seen */
		zdeliver_start(op);
	return MPI_SUCCESS;
}

static void forget_packed(struct zop *op)
{
	zpool_put(op->packed);
	op->packed = NULL;
}

static int unpack_native(const struct zop *op, MPI_Status *st)
{
	MPI_Count bytes = 0;

	zn.Get_elements_x(st, MPI_BYTE, &bytes);
	int rc = zdata_unpack_native(op->packed, (uint64_t)bytes, op->buf, op->count, op->type);
	if (rc == MPI_ERR_TYPE)
		zn.Status_set_elements_x(st, MPI_BYTE, zdata_whole_bytes(op->type, (uint64_t)bytes));
	return rc;
}

static void take_native(struct zop *op, const MPI_Status *st, int error)
{
	const struct zcomm *c = op->req.comm;

	op->native = MPI_REQUEST_NULL;
	op->req.status = *st;
	if (op->packed && error == MPI_SUCCESS)
		error = unpack_native(op, &op->req.status);
	forget_packed(op);
	if (op->posted)
		zqueue_withdraw(op);
	op->req.status.MPI_ERROR = error;
	if (st->MPI_SOURCE >= 0 && st->MPI_SOURCE < c->nlocal)
		op->req.status.MPI_SOURCE = c->shadow_to_rank[st->MPI_SOURCE];
	if (op->queued)
		zoplist_del(&zop_station(op)->orphans, op);
	zreq_complete(&op->req);
}

bool zanysource_test(struct zop *op)
{
	MPI_Status st;
	int flag = 0;

	zstatus_empty(&st);
	int rc = zerror_test_native(&op->native, &flag, &st);
	if (rc == MPI_SUCCESS && !flag)
		return false;
	take_native(op, &st, rc);
	return true;
}

bool zanysource_claim(struct zop *op)
{
	MPI_Status st;
	int flag = 0, cancelled = 0;

	zstatus_empty(&st);
	zn.Cancel(&op->native);
	int rc = zerror_test_native(&op->native, &flag, &st);
	if (flag && rc == MPI_SUCCESS)
		zn.Test_cancelled(&st, &cancelled);
	if (cancelled) {
		op->native = MPI_REQUEST_NULL;
		forget_packed(op);
		if (op->queued)
			zoplist_del(&zop_station(op)->orphans, op);
		return true;
	}
	if (op->posted)
		zqueue_withdraw(op);
	if (flag || rc != MPI_SUCCESS)
		take_native(op, &st, rc);
	return false;
}

void zanysource_orphan(struct zop *op)
{
	op->req.orphan = true;
	zoplist_push(&zop_station(op)->orphans, op);
}

bool zanysource_poll_orphans(struct zstation *s)
{
	struct zop *op = zoplist_pop(&s->orphans);

	if (!op)
		return false;
	if (op->native == MPI_REQUEST_NULL)
		return true; /* a bridged message has it now: it completes by itself */
	zoplist_push(&s->orphans, op);
	return zanysource_test(op);
}
