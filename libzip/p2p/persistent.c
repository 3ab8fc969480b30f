/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives. See persistent.h. */
#include "libzip/p2p/persistent.h"

#include "libzip/p2p/buffer.h"
#include "libzip/p2p/buffer_wait.h"
#include "libzip/p2p/completion.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/bridge/bridge.h"
#include "libzip/stream/op.h"
#include "libzip/p2p/p2p.h"
#include "libzip/shim/shim.h"
#include "libzip/bridge/op_start.h"

static int native_send_init(const struct zp2p_args *a, MPI_Comm comm, int rank, enum zp2p_mode mode, MPI_Request *r)
{
	if (mode == ZP2P_BUFFERED)
		zbuffer_used = true;
	switch (mode) {
	case ZP2P_BUFFERED:
		return znative_Bsend_init(a->buf, a->count, a->type, rank, a->tag, comm, r);
	case ZP2P_SYNC:
		return znative_Ssend_init(a->buf, a->count, a->type, rank, a->tag, comm, r);
	case ZP2P_READY:
		return znative_Rsend_init(a->buf, a->count, a->type, rank, a->tag, comm, r);
	default:
		return znative_Send_init(a->buf, a->count, a->type, rank, a->tag, comm, r);
	}
}

static int native_recv_init(const struct zp2p_args *a, MPI_Comm comm, int rank, MPI_Request *r)
{
	return znative_Recv_init(a->buf, a->count, a->type, rank, a->tag, comm, r);
}

static int our_init(struct zcomm *c, const struct zp2p_args *a, enum zop_kind kind, enum zp2p_mode mode,
	MPI_Request *request)
{
	struct zop_args args = {c, ZCOMM_PT2PT, a->buf, a->count, a->type, a->rank, a->tag};
	struct zop *op;
	const int was = zstation_visit(c->station);
	int rc = zop_start_make(&op, kind, &args, true);

	zstation_return(was);

	if (rc == MPI_SUCCESS) {
		op->mode = mode == ZP2P_SYNC ? ZSEND_SYNC : mode == ZP2P_BUFFERED ? ZSEND_BUFFERED : ZSEND_STANDARD;
		op->req.persistent = true;
		rc = zreq_publish(&op->req, request);
		if (rc != MPI_SUCCESS)
			zreq_release(&op->req);
	}
	return rc == MPI_SUCCESS ? rc : zerror_raise(c, rc, a->name, "cannot make the request");
}

int zpersistent_send_init(const struct zp2p_args *a, enum zp2p_mode mode, MPI_Request *request)
{
	struct zcomm *c = zcomm_find(a->comm);
	int rc;

	if (!c)
		return native_send_init(a, a->comm, a->rank, mode, request);
	rc = zp2p_check_send(c, a);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->rank == MPI_PROC_NULL)
		return native_send_init(a, c->shadow, MPI_PROC_NULL, mode, request);
	if (zcomm_is_local_rank(c, a->rank))
		return native_send_init(a, c->shadow, zcomm_shadow_rank(c, a->rank), mode, request);
	return our_init(c, a, ZOP_SEND, mode, request);
}

int zpersistent_recv_init(const struct zp2p_args *a, MPI_Request *request)
{
	struct zcomm *c = zcomm_find(a->comm);
	int rc;

	if (!c)
		return native_recv_init(a, a->comm, a->rank, request);
	rc = zp2p_check_recv(c, a);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->rank == MPI_PROC_NULL)
		return native_recv_init(a, c->shadow, MPI_PROC_NULL, request);
	if (a->rank >= 0 && zcomm_shadow_rank(c, a->rank) == a->rank)
		return native_recv_init(a, c->shadow, a->rank, request);
	return our_init(c, a, ZOP_RECV, ZP2P_STANDARD, request);
}

/* A buffered send has found the attached buffer full: is there room after some waiting? */
static bool has_room_at_last(const struct zreq *r)
{
	const struct zop *op = (const struct zop *)(const void *)r;

	return r->ops == &zop_start_send_ops && zbuffer_wait(op->req.comm, op->buf, op->count, op->type);
}

static int start(MPI_Request *request, const char *name)
{
	if (!zreq_is_ours(*request))
		return zn.Start(request);
	struct zreq *r = zreq_find(*request);
	if (!r || !r->persistent || r->active || !r->ops->start)
		return zerror_raise(r ? r->comm : NULL, MPI_ERR_REQUEST, name,
			"not a persistent request, or still active");
	int rc = zreq_start(r);
	if (rc == MPI_ERR_BUFFER && has_room_at_last(r))
		rc = zreq_start(r);
	if (rc != MPI_SUCCESS) {
		r->active = false;
		return zcompletion_raise(r->comm->handle, rc, name,
			rc == MPI_ERR_BUFFER   ? ZBUFFER_FULL
			: rc == MPI_ERR_NO_MEM ? "out of memory"
					       : "cannot start the operation");
	}
	return MPI_SUCCESS;
}

int zip_Start(MPI_Request *request)
{
	if (__builtin_expect(!request, 0))
		return zerror_raise(NULL, MPI_ERR_ARG, "MPI_Start", ZERROR_NULL, "request");
	return start(request, "MPI_Start");
}

int zip_Startall(int count, MPI_Request requests[])
{
	if (count < 0 || !requests)
		return zn.Startall(count, requests);
	for (int i = 0; i < count; i++) {
		int rc = start(&requests[i], "MPI_Startall");
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}
