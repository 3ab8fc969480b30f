/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks and starts of sends and receives. See p2p.h. */
#include "libzip/p2p/p2p.h"

#include <limits.h>

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/bridge.h"
#include "libzip/bridge/op_start.h"
#include "libzip/stream/op.h"
#include "libzip/p2p/buffer.h"
#include "libzip/p2p/buffer_wait.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"

static int tag_limit(void)
{
	return zworld.tag_ub != 0 ? (int)zworld.tag_ub : INT_MAX;
}

static int check_data(const struct zcomm *c, const struct zp2p_args *a)
{
	if (a->count < 0)
		return zerror_raise(c, MPI_ERR_COUNT, a->name, "count is %lld", (long long)a->count);
	if (a->count == 0 && a->type == MPI_DATATYPE_NULL) /* MPICH checks the datatype only where there are elements */
		return MPI_SUCCESS;
	if (ztype_check(a->type) != MPI_SUCCESS)
		return zerror_raise(c, MPI_ERR_TYPE, a->name, "invalid datatype");
	if (a->count > 0 && !ztype_is_committed(a->type))
		return zerror_raise(c, MPI_ERR_TYPE, a->name, "the datatype has not been committed");
	if (ztype_is_nowhere(a->buf, a->count, a->type))
		return zerror_raise(c, MPI_ERR_BUFFER, a->name, "the buffer is a null pointer");
	return MPI_SUCCESS;
}

int zp2p_check_send(const struct zcomm *c, const struct zp2p_args *a)
{
	int rc = check_data(c, a);

	if (rc != MPI_SUCCESS)
		return rc;
	if ((a->rank < 0 || a->rank >= c->size) && a->rank != MPI_PROC_NULL)
		return zerror_raise(c, MPI_ERR_RANK, a->name, "rank %d is not in the communicator (0..%d)", a->rank,
			c->size - 1);
	if (a->tag < 0 || a->tag > tag_limit())
		return zerror_raise(c, MPI_ERR_TAG, a->name, "tag is %d", a->tag);
	return MPI_SUCCESS;
}

int zp2p_check_probe(const struct zcomm *c, const char *name, int source, int tag)
{
	if ((source < 0 || source >= c->size) && source != MPI_PROC_NULL && source != MPI_ANY_SOURCE)
		return zerror_raise(c, MPI_ERR_RANK, name, "rank %d is not in the communicator (0..%d)", source,
			c->size - 1);
	if ((tag < 0 || tag > tag_limit()) && tag != MPI_ANY_TAG)
		return zerror_raise(c, MPI_ERR_TAG, name, "tag is %d", tag);
	return MPI_SUCCESS;
}

int zp2p_check_recv(const struct zcomm *c, const struct zp2p_args *a)
{
	int rc = check_data(c, a);

	return rc == MPI_SUCCESS ? zp2p_check_probe(c, a->name, a->rank, a->tag) : rc;
}

static enum zsend_mode bridge_mode(enum zp2p_mode mode)
{
	switch (mode) {
	case ZP2P_BUFFERED:
		return ZSEND_BUFFERED;
	case ZP2P_SYNC:
		return ZSEND_SYNC;
	case ZP2P_COPIED:
		return ZSEND_COPIED;
	default:
		return ZSEND_STANDARD;
	}
}

int zp2p_isend(struct zcomm *c, const struct zp2p_args *a, enum zp2p_mode mode, MPI_Request *request)
{
	struct zreq *r;
	int rc;

	if (!c)
		return zp2p_native_isend(a, a->comm, a->rank, mode, request);
	rc = zp2p_check_send(c, a);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->rank == MPI_PROC_NULL)
		return zp2p_native_isend(a, c->shadow, MPI_PROC_NULL, mode, request);
	if (zcomm_is_local_rank(c, a->rank))
		return zp2p_native_isend(a, c->shadow, zcomm_shadow_rank(c, a->rank), mode, request);
	if (__builtin_expect(!request, 0))
		return zerror_raise(c, MPI_ERR_ARG, a->name, ZERROR_NULL, "request");
	rc = zbridge_isend(c, ZCOMM_PT2PT, a->buf, a->count, a->type, a->rank, a->tag, bridge_mode(mode), &r);
	if (__builtin_expect(rc == MPI_ERR_BUFFER, 0) && zbuffer_wait(c, a->buf, a->count, a->type))
		rc = zbridge_isend(c, ZCOMM_PT2PT, a->buf, a->count, a->type, a->rank, a->tag, bridge_mode(mode), &r);
	if (rc == MPI_SUCCESS)
		rc = zreq_publish(r, request);
	return rc == MPI_SUCCESS ? rc
				 : zerror_raise(c, rc, a->name, "%s",
					   rc == MPI_ERR_BUFFER ? ZBUFFER_FULL : "cannot start the send");
}

int zp2p_irecv(struct zcomm *c, const struct zp2p_args *a, MPI_Request *request)
{
	int rc;

	if (!c)
		return zp2p_native_irecv(a, a->comm, a->rank, request);
	rc = zp2p_check_recv(c, a);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->rank == MPI_PROC_NULL)
		return zp2p_native_irecv(a, c->shadow, MPI_PROC_NULL, request);
	if (a->rank >= 0 && c->nprobed > 0) /* the call names the source that a probe has told */
		zanysource_taken(c, a->tag);
	if (a->rank >= 0 && zcomm_shadow_rank(c, a->rank) == a->rank)
		return zp2p_native_irecv(a, c->shadow, a->rank, request);

	if (__builtin_expect(!request, 0))
		return zerror_raise(c, MPI_ERR_ARG, a->name, ZERROR_NULL, "request");

	struct zop_args args = {c, ZCOMM_PT2PT, a->buf, a->count, a->type, a->rank, a->tag};
	struct zop *op;
	const int was = zstation_visit(c->station);
	rc = zop_start_make(&op, ZOP_RECV, &args, false);
	if (rc == MPI_SUCCESS) {
		rc = zop_start(op);
		if (rc == MPI_SUCCESS)
			rc = zreq_publish(&op->req, request);
		else
			zreq_release(&op->req);
	}
	zstation_return(was);
	return rc == MPI_SUCCESS ? rc : zerror_raise(c, rc, a->name, "cannot start the receive");
}
