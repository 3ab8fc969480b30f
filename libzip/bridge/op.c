/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, completing and freeing point-to-point operations, see op.h. */
#include "libzip/bridge/op.h"

#include <assert.h>
#include <string.h>

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/arrival.h"
#include "libzip/p2p/buffer.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typehold.h"
#include "common/wire/wire.h"
#include "libzip/world/status.h"

unsigned zop_buffered_of[ZSTATIONS_MAX];

static int start_op(struct zreq *r)
{
	return zop_start((struct zop *)r);
}

static bool progress_recv(struct zreq *r)
{
	struct zop *op = (struct zop *)r;

	return op->native != MPI_REQUEST_NULL && zanysource_test(op);
}

static int cancel_recv(struct zreq *r)
{
	struct zop *op = (struct zop *)r;

	if (op->req.done)
		return MPI_SUCCESS;
	if (op->native != MPI_REQUEST_NULL && !zanysource_claim(op))
		return MPI_SUCCESS; /* native MPI has matched it already */
	if (op->xfer != 0 || op->strands != 0)
		return MPI_SUCCESS; /* matched, the data are on their way */
	if (op->posted)
		zop_withdraw(op);
	zstatus_empty(&op->req.status);
	op->req.status.count_hi_and_cancelled |= 1;
	zreq_complete(&op->req);
	return MPI_SUCCESS;
}

static void destroy_op(struct zreq *r)
{
	struct zop *op = (struct zop *)r;

	assert(!op->posted && !op->queued);
	ztransfer_conceal(op);
	if (op->xfer)
		ztransfer_del(op);
	if (op->type_held)
		ztypehold_release(op->type);
	zpool_put(op->packed);
}

const struct zreq_ops zop_send_ops = {.name = "send", .start = start_op, .destroy = destroy_op};
const struct zreq_ops zop_recv_ops = {.name = "receive",
	.progress = progress_recv,
	.start = start_op,
	.cancel = cancel_recv,
	.destroy = destroy_op};

struct zreq zop_sent = {
	.ops = &zop_send_ops,
	.done = true,
	.immortal = true,
	.handle = MPI_REQUEST_NULL,
	.status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS},
};

static int hold_type(struct zop *op, bool always)
{
	const struct ztype *t = ztype_find(op->type);

	/* Sends pack when they start; receives need the type until they are complete. */
	if (t->builtin || !(always || (op->kind == ZOP_RECV && !op->data.dense)))
		return MPI_SUCCESS;
	int rc = ztypehold_take(op->type);
	op->type_held = rc == MPI_SUCCESS;
	return rc;
}

int zop_create(struct zop **out, enum zop_kind kind, const struct zop_args *a, bool always_hold)
{
	struct zop *op =
		(struct zop *)zreq_create(kind == ZOP_SEND ? &zop_send_ops : &zop_recv_ops, sizeof(*op), a->comm);
	int rc;

	if (!op)
		return MPI_ERR_NO_MEM;
	op->kind = kind;
	op->context = a->context;
	op->rank = a->rank;
	op->tag = a->tag;
	op->buf = a->buf;
	op->count = a->count;
	op->type = a->type;
	op->native = MPI_REQUEST_NULL;
	rc = zdata_view(&op->data, a->buf, a->count, a->type);
	if (rc == MPI_SUCCESS)
		rc = hold_type(op, always_hold);
	if (rc == MPI_SUCCESS && a->rank >= 0 && !zcomm_is_local_rank(a->comm, a->rank)) {
		op->remote = zremote_get((uint32_t)a->comm->vrank[a->rank]);
		if (!op->remote)
			rc = MPI_ERR_NO_MEM;
	}
	if (rc != MPI_SUCCESS) {
		zreq_release(&op->req);
		return rc;
	}
	*out = op;
	return MPI_SUCCESS;
}

int zop_start(struct zop *op)
{
	op->req.done = false;
	op->req.active = true;
	op->total = op->granted = op->moved = 0;
	if (op->kind == ZOP_SEND)
		return zoutgoing_start(op);
	if (op->rank == MPI_ANY_SOURCE || zcomm_is_local_rank(op->req.comm, op->rank))
		return zanysource_start(op);
	zarrival_start_recv(op);
	return MPI_SUCCESS;
}

void zop_finish_recv(struct zop *op, uint32_t source, int tag, uint64_t bytes, int error)
{
	/* Without conversion wire bytes are native bytes; and the type of no bytes or of dense ones may be gone. */
	MPI_Count count = op->data.converted && bytes > 0 ? zdata_native_bytes(op->type, bytes) : (MPI_Count)bytes;

	ztransfer_conceal(op);
	if (op->xfer)
		ztransfer_del(op);
	zpool_put(op->packed);
	op->packed = NULL;
	zstatus_set(&op->req.status, zcomm_rank_of(op->req.comm, (int)source), tag, error, count, false);
	zreq_complete(&op->req);
}

void zop_finish_send(struct zop *op, int error)
{
	if (zop_is_detached(op) && op->req.orphan && !op->req.persistent) {
		zop_buffered--;
		zbuffer_give(op);
	}
	if (op->multicast)
		zmulticast_part(op);
	ztransfer_conceal(op);
	if (op->xfer)
		ztransfer_del(op);
	zpool_put(op->packed);
	op->packed = NULL;
	zstatus_empty(&op->req.status);
	op->req.status.MPI_ERROR = error;
	zreq_complete(&op->req);
}

int zop_check_fit(const struct zop *op, uint16_t flags, uint64_t total)
{
	if (total > op->data.bytes)
		return MPI_ERR_TRUNCATE;
	if (total > 0 && op->data.converted != !!(flags & ZWIRE_F_EXT32))
		return MPI_ERR_TYPE;
	return MPI_SUCCESS;
}

void zop_take_eager(struct zop *op, uint32_t source, int tag, uint16_t flags, const uint8_t *payload, uint64_t total)
{
	uint64_t n = total <= op->data.bytes ? total : op->data.bytes;
	int error = zop_check_fit(op, flags, total), rc = MPI_SUCCESS;

	op->total = total;
	if (error == MPI_ERR_TYPE || n == 0)
		n = 0; /* payload may be NULL */
	else if (op->data.dense)
		memcpy(op->data.dense, payload, n);
	else
		rc = zdata_unpack(payload, n, op->buf, op->count, op->type);
	zop_finish_recv(op, source, tag, n, error != MPI_SUCCESS ? error : rc);
}

void zop_post(struct zop *op)
{
	struct zmatch_key key = zarrival_key(op->req.comm, op->context, op->rank, op->tag);

	zmatch_post(&zarrival_match, &op->match, &key);
	op->posted = true;
}

void zop_withdraw(struct zop *op)
{
	zmatch_withdraw(&zarrival_match, &op->match);
	op->posted = false;
}

void zop_list_push(struct zop_list *l, struct zop *op)
{
	assert(!op->queued);
	op->queued = true;
	op->next = NULL;
	if (l->tail)
		l->tail->next = op;
	else
		l->head = op;
	l->tail = op;
}

struct zop *zop_list_pop(struct zop_list *l)
{
	struct zop *op = l->head;

	if (op) {
		l->head = op->next;
		if (!l->head)
			l->tail = NULL;
		op->queued = false;
	}
	return op;
}

void zop_list_del(struct zop_list *l, struct zop *op)
{
	struct zop *prev = NULL;

	for (struct zop *o = l->head; o != op; o = o->next)
		prev = o;
	if (prev)
		prev->next = op->next;
	else
		l->head = op->next;
	if (l->tail == op)
		l->tail = prev;
	op->queued = false;
}
