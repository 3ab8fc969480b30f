/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, completing and freeing point-to-point operations, see op.h. */
#include "libzip/stream/op.h"

#include <assert.h>
#include <string.h>

#include "common/wire/wire.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/tied.h"
#include "libzip/stream/transfer.h"
#include "libzip/type/typehold.h"
#include "libzip/world/attached.h"
#include "libzip/world/status.h"

void zop_destroy(struct zreq *r)
{
	struct zop *op = (struct zop *)r;

	assert(!op->posted && !op->queued);
	ztransfer_conceal(op);
	if (op->t.xfer)
		ztransfer_del(op);
	if (op->type_held)
		ztypehold_release(op->type);
	zpool_put(op->packed);
}

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

int zop_create(struct zop **out, const struct zreq_ops *ops, enum zop_kind kind, const struct zop_args *a,
	bool always_hold)
{
	struct zop *op = (struct zop *)zreq_create(ops, sizeof(*op), a->comm);
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
		op->remote = zremote_get(zop_station(op), (uint32_t)a->comm->vrank[a->rank]);
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

void zop_finish_recv(struct zop *op, uint32_t source, int tag, uint64_t bytes, int error)
{
	/* Else wire bytes are native bytes, and the type may be gone where there are no bytes, or dense ones. */
	bool other = op->data.converted || (error == MPI_ERR_TYPE && !op->data.dense);
	MPI_Count count = other && bytes > 0 ? zdata_native_bytes(op->type, bytes) : (MPI_Count)bytes;

	ztransfer_conceal(op);
	if (op->t.xfer)
		ztransfer_del(op);
	zpool_put(op->packed);
	op->packed = NULL;
	zstatus_set(&op->req.status, zcomm_rank_of(op->req.comm, (int)source), tag, error, count, false);
	zreq_complete(&op->req);
}

/* Small messages that go into their stream at once do not count: the window of the stream limits them. */
void zop_take_buffer(struct zop *op)
{
	if (op->mode != ZSEND_BUFFERED)
		return;
	op->attached = zattached_of(op->req.comm);
	op->in_buffer = (MPI_Count)op->data.bytes + MPI_BSEND_OVERHEAD;
	op->attached->in_use += op->in_buffer;
}

void zop_give_buffer(struct zop *op)
{
	if (op->in_buffer == 0)
		return;
	op->attached->in_use -= op->in_buffer;
	op->attached->is_full = false;
	op->in_buffer = 0;
}

void zop_finish_send(struct zop *op, int error)
{
	if (zop_is_detached(op) && op->req.orphan && !op->req.persistent)
		zop_give_buffer(op);
	if (op->t.tied)
		ztied_part(op);
	ztransfer_conceal(op);
	if (op->t.xfer)
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

	op->t.total = total;
	if (error == MPI_ERR_TYPE || n == 0)
		n = 0; /* payload may be NULL */
	else if (op->data.dense)
		memcpy(op->data.dense, payload, n);
	else
		rc = zdata_unpack(payload, n, op->buf, op->count, op->type);
	zop_finish_recv(op, source, tag, n, error != MPI_SUCCESS ? error : rc);
}
