/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting point-to-point operations, see op_start.h. */
#include "libzip/bridge/op_start.h"

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/deliver.h"
#include "libzip/bridge/queue.h"
#include "libzip/shim/pool.h"
#include "libzip/world/attached.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/world/status.h"

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
	if (op->t.xfer != 0 || op->strands != 0)
		return MPI_SUCCESS; /* matched, the data are on their way */
	if (op->posted)
		zqueue_withdraw(op);
	zstatus_empty(&op->req.status);
	zabi_status_cancel(&op->req.status);
	zreq_complete(&op->req);
	return MPI_SUCCESS;
}

/* A persistent buffered send is complete at once; a copy goes its own way. */
static int start_copy(struct zop *op)
{
	const struct zop_args args = {op->req.comm, op->context, op->buf, op->count, op->type, op->rank, op->tag};
	struct zreq *copy;
	int rc = MPI_SUCCESS;

	if (!zattached_has_room(zattached_of(op->req.comm), op->data.bytes))
		return MPI_ERR_BUFFER;
	if (!zoutgoing_try_eager(op->remote, op->req.comm->id | op->context, op->tag, &op->data))
		rc = zop_start_send(&args, ZSEND_BUFFERED, &copy);
	if (rc == MPI_SUCCESS)
		zop_finish_send(op, MPI_SUCCESS);
	return rc;
}

static int start_again(struct zreq *r)
{
	struct zop *op = (struct zop *)r;

	if (op->kind == ZOP_RECV || op->mode != ZSEND_BUFFERED)
		return zop_start(op);
	zop_begin(op);
	return start_copy(op);
}

const struct zreq_ops zop_start_send_ops = {.name = "send", .start = start_again, .destroy = zop_destroy};

/* Does the message come from a rank of this part? */
static bool is_native_recv(const struct zreq *r)
{
	const struct zop *op = (const struct zop *)r;

	return op->rank >= 0 && r->comm && zcomm_is_local_rank(r->comm, op->rank);
}

const struct zreq_ops zop_start_recv_ops = {.name = "receive",
	.progress = progress_recv,
	.start = start_again,
	.cancel = cancel_recv,
	.is_native = is_native_recv,
	.destroy = zop_destroy};

struct zreq zop_start_sent = {
	.ops = &zop_start_send_ops,
	.done = true,
	.immortal = true,
	.handle = MPI_REQUEST_NULL,
	.status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS},
};

int zop_start(struct zop *op)
{
	zop_begin(op);
	if (op->kind == ZOP_SEND)
		return zoutgoing_start(op);
	if (op->rank == MPI_ANY_SOURCE || zcomm_is_local_rank(op->req.comm, op->rank))
		return zanysource_start(op);
	zdeliver_start(op);
	return MPI_SUCCESS;
}

/* The send goes on by itself, with a copy of its own; the caller gets the request that is done. */
static int start_detached(struct zop *op)
{
	op->req.orphan = true;
	zop_take_buffer(op);
	int rc = zop_start(op);
	if (rc != MPI_SUCCESS) {
		zop_give_buffer(op);
		zreq_release(&op->req);
	}
	return rc;
}

int zop_start_send(const struct zop_args *args, enum zsend_mode mode, struct zreq **out)
{
	struct zop *op;
	int rc = zop_start_make(&op, ZOP_SEND, args, false);

	if (rc != MPI_SUCCESS)
		return rc;
	op->mode = mode;
	if (zop_is_detached(op)) {
		*out = &zop_start_sent;
		return start_detached(op);
	}
	*out = &op->req;
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}

int zop_start_recv(const struct zop_args *args, struct zreq **out)
{
	struct zop *op;
	int rc = zop_start_make(&op, ZOP_RECV, args, false);

	if (rc != MPI_SUCCESS)
		return rc;
	*out = &op->req;
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}
