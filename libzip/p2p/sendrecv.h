/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send and receive functions. A blocking function is its nonblocking form and a wait, because a native call that
 * blocks would keep the bridge from being served. Local messages are to cost little more than natively: inline, a
 * look-up, the native calls and a counter are left of these functions. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_SENDRECV_H
#define ZIP_LIBZIP_SENDRECV_H

#include "libzip/bridge/bridge.h"
#include "libzip/p2p/completion.h"
#include "libzip/p2p/early.h"
#include "libzip/p2p/p2p.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/status.h"

static inline __attribute__((always_inline)) int zsendrecv_isend(const struct zp2p_args *a, enum zp2p_mode mode,
	MPI_Request *request)
{
	struct zcomm *c = zcomm_find(a->comm);

	if (!c)
		return zp2p_native_isend(a, a->comm, a->rank, mode, request);
	return zp2p_isend(c, a, mode, request);
}

static inline __attribute__((always_inline)) int zsendrecv_irecv_on(struct zcomm *c, const struct zp2p_args *a,
	MPI_Request *request)
{
	return c ? zp2p_irecv(c, a, request) : zp2p_native_irecv(a, a->comm, a->rank, request);
}

static inline __attribute__((always_inline)) int zsendrecv_irecv(const struct zp2p_args *a, MPI_Request *request)
{
	return zsendrecv_irecv_on(zcomm_find(a->comm), a, request);
}

static inline __attribute__((always_inline)) int zsendrecv_send(const struct zp2p_args *a, enum zp2p_mode mode)
{
	MPI_Request request;

	if (mode == ZP2P_BUFFERED && !zcomm_find(a->comm)) { /* natively a buffered send never blocks */
		zbuffer_used = true;
		return znative_Bsend(a->buf, a->count, a->type, a->rank, a->tag, a->comm);
	}
	int rc = zsendrecv_isend(a, mode, &request);

	if (rc != MPI_SUCCESS)
		return rc;
	if (__builtin_expect(request != zcompletion_sent, 0))
		return zcompletion_wait(&request, MPI_STATUS_IGNORE, a->comm, a->name);
	zprogress_now_and_then();
	return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int zsendrecv_recv(const struct zp2p_args *a, MPI_Status *status)
{
	struct zcomm *c = zcomm_find(a->comm);
	MPI_Request request;

	if (__builtin_expect(zstatus_is_missing(status), 0)) /* before a receive is posted that nobody waits for */
		return zerror_raise_native(a->comm, MPI_ERR_ARG, a->name, ZERROR_NULL, "status");
	/* It does not block. In MPICH 4.0 the status of the nonblocking form has no source. */
	if (a->rank == MPI_PROC_NULL)
		return zn.Recv_c(a->buf, a->count, a->type, a->rank, a->tag, c ? c->shadow : a->comm, status);
	int rc = zsendrecv_irecv_on(c, a, &request);
	if (rc != MPI_SUCCESS)
		return zearly_failed(rc, a->comm, status);
	return c ? zcompletion_wait(&request, status, a->comm, a->name)
		 : zcompletion_wait_native(&request, status, a->comm, a->name);
}

#endif
