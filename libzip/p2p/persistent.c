/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives: native ones where the native request needs no translation, else ours. */
#include <limits.h>

#include "libzip/p2p/buffer.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/bridge/op.h"
#include "libzip/p2p/p2p.h"
#include "libzip/shim/shim.h"

static int native_send_init(const struct zp2p_args *a, MPI_Comm comm, int rank, enum zp2p_mode mode, MPI_Request *r)
{
	int n = (int)a->count;

	if (mode == ZP2P_BUFFERED)
		zbuffer_used = true;
	if (a->count > INT_MAX) {
		switch (mode) {
		case ZP2P_BUFFERED:
			return zn.Bsend_init_c(a->buf, a->count, a->type, rank, a->tag, comm, r);
		case ZP2P_SYNC:
			return zn.Ssend_init_c(a->buf, a->count, a->type, rank, a->tag, comm, r);
		case ZP2P_READY:
			return zn.Rsend_init_c(a->buf, a->count, a->type, rank, a->tag, comm, r);
		default:
			return zn.Send_init_c(a->buf, a->count, a->type, rank, a->tag, comm, r);
		}
	}
	switch (mode) {
	case ZP2P_BUFFERED:
		return zn.Bsend_init(a->buf, n, a->type, rank, a->tag, comm, r);
	case ZP2P_SYNC:
		return zn.Ssend_init(a->buf, n, a->type, rank, a->tag, comm, r);
	case ZP2P_READY:
		return zn.Rsend_init(a->buf, n, a->type, rank, a->tag, comm, r);
	default:
		return zn.Send_init(a->buf, n, a->type, rank, a->tag, comm, r);
	}
}

static int native_recv_init(const struct zp2p_args *a, MPI_Comm comm, int rank, MPI_Request *r)
{
	if (a->count > INT_MAX)
		return zn.Recv_init_c(a->buf, a->count, a->type, rank, a->tag, comm, r);
	return zn.Recv_init(a->buf, (int)a->count, a->type, rank, a->tag, comm, r);
}

static int our_init(struct zcomm *c, const struct zp2p_args *a, enum zop_kind kind, enum zp2p_mode mode,
	MPI_Request *request)
{
	struct zop_args args = {c, ZCOMM_PT2PT, a->buf, a->count, a->type, a->rank, a->tag};
	struct zop *op;
	const int was = zstation_visit(c->station);
	int rc = zop_create(&op, kind, &args, true);

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

static int send_init(const struct zp2p_args *a, enum zp2p_mode mode, MPI_Request *request)
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
		return native_send_init(a, c->shadow, c->shadow_rank[a->rank], mode, request);
	return our_init(c, a, ZOP_SEND, mode, request);
}

static int recv_init(const struct zp2p_args *a, MPI_Request *request)
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
	if (a->rank >= 0 && c->shadow_rank[a->rank] == a->rank)
		return native_recv_init(a, c->shadow, a->rank, request);
	return our_init(c, a, ZOP_RECV, ZP2P_STANDARD, request);
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
	if (rc != MPI_SUCCESS) {
		r->active = false;
		return zerror_raise(r->comm, rc, name, "%s",
			rc == MPI_ERR_BUFFER ? ZBUFFER_FULL : "cannot start the operation");
	}
	return MPI_SUCCESS;
}

int zip_Start(MPI_Request *request)
{
	return start(request, "MPI_Start");
}

int zip_Startall(int count, MPI_Request requests[])
{
	if (count < 0)
		return zn.Startall(count, requests);
	for (int i = 0; i < count; i++) {
		int rc = start(&requests[i], "MPI_Startall");
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

#define SEND_ARGS(NAME)                                                                                                \
	{                                                                                                              \
		NAME, comm, (void *)(uintptr_t)buf, count, type, dest, tag                                             \
	}

int zip_Send_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Send_init");

	return send_init(&a, ZP2P_STANDARD, request);
}

int zip_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Send_init_c");

	return send_init(&a, ZP2P_STANDARD, request);
}

int zip_Bsend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Bsend_init");

	return send_init(&a, ZP2P_BUFFERED, request);
}

int zip_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Bsend_init_c");

	return send_init(&a, ZP2P_BUFFERED, request);
}

int zip_Ssend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ssend_init");

	return send_init(&a, ZP2P_SYNC, request);
}

int zip_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ssend_init_c");

	return send_init(&a, ZP2P_SYNC, request);
}

int zip_Rsend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Rsend_init");

	return send_init(&a, ZP2P_READY, request);
}

int zip_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Rsend_init_c");

	return send_init(&a, ZP2P_READY, request);
}

int zip_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = {"MPI_Recv_init", comm, buf, count, type, source, tag};

	return recv_init(&a, request);
}

int zip_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = {"MPI_Recv_init_c", comm, buf, count, type, source, tag};

	return recv_init(&a, request);
}
