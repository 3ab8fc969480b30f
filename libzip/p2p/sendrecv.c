/* SPDX-License-Identifier: BSD-3-Clause */
/* The send and receive functions themselves: every blocking one is its nonblocking form and a wait, because a native
 * call that blocks would keep the bridge from being served. Local ones are to cost little more than natively: what is
 * inline here leaves of them a look-up, the native calls and a counter. */
#include "libzip/bridge/bridge.h"
#include "libzip/p2p/completion.h"
#include "libzip/p2p/p2p.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"

static inline __attribute__((always_inline)) int isend(const struct zp2p_args *a, enum zp2p_mode mode,
	MPI_Request *request)
{
	struct zcomm *c = zcomm_find(a->comm);

	if (!c)
		return zp2p_native_isend(a, a->comm, a->rank, mode, request);
	return zp2p_isend(c, a, mode, request);
}

static inline __attribute__((always_inline)) int irecv(struct zcomm *c, const struct zp2p_args *a, MPI_Request *request)
{
	return c ? zp2p_irecv(c, a, request) : zp2p_native_irecv(a, a->comm, a->rank, request);
}

static inline __attribute__((always_inline)) int send_blocking(const struct zp2p_args *a, enum zp2p_mode mode)
{
	MPI_Request request;
	int rc = isend(a, mode, &request);

	if (rc != MPI_SUCCESS)
		return rc;
	if (__builtin_expect(request != zcompletion_sent, 0))
		return zcompletion_wait(&request, MPI_STATUS_IGNORE, a->comm, a->name);
	zprogress_now_and_then();
	return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int recv_blocking(const struct zp2p_args *a, MPI_Status *status)
{
	struct zcomm *c = zcomm_find(a->comm);
	MPI_Request request;

	/* Does not block; and MPICH 4.0 gives the status of the nonblocking form no source. */
	if (a->rank == MPI_PROC_NULL)
		return zn.Recv_c(a->buf, a->count, a->type, a->rank, a->tag, c ? c->shadow : a->comm, status);
	int rc = irecv(c, a, &request);
	if (rc != MPI_SUCCESS)
		return rc;
	return c ? zcompletion_wait(&request, status, a->comm, a->name)
		 : zcompletion_wait_native(&request, status, a->comm, a->name);
}

/* The int and the MPI_Count form of each. */
#define SEND_ARGS(NAME)                                                                                                \
	{                                                                                                              \
		NAME, comm, (void *)(uintptr_t)buf, count, type, dest, tag                                             \
	}
#define RECV_ARGS(NAME)                                                                                                \
	{                                                                                                              \
		NAME, comm, buf, count, type, source, tag                                                              \
	}

int zip_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Send");

	return send_blocking(&a, ZP2P_STANDARD);
}

int zip_Send_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Send_c");

	return send_blocking(&a, ZP2P_STANDARD);
}

int zip_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ssend");

	return send_blocking(&a, ZP2P_SYNC);
}

int zip_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ssend_c");

	return send_blocking(&a, ZP2P_SYNC);
}

int zip_Rsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Rsend");

	return send_blocking(&a, ZP2P_READY);
}

int zip_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Rsend_c");

	return send_blocking(&a, ZP2P_READY);
}

/* Natively a buffered send never blocks. */
int zip_Bsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Bsend");

	if (!zcomm_find(comm)) {
		zbuffer_used = true;
		return zn.Bsend(buf, count, type, dest, tag, comm);
	}
	return send_blocking(&a, ZP2P_BUFFERED);
}

int zip_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct zp2p_args a = SEND_ARGS("MPI_Bsend_c");

	if (!zcomm_find(comm)) {
		zbuffer_used = true;
		return zn.Bsend_c(buf, count, type, dest, tag, comm);
	}
	return send_blocking(&a, ZP2P_BUFFERED);
}

int zip_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Isend");

	return isend(&a, ZP2P_STANDARD, request);
}

int zip_Isend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Isend_c");

	return isend(&a, ZP2P_STANDARD, request);
}

int zip_Ibsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ibsend");

	return isend(&a, ZP2P_BUFFERED, request);
}

int zip_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Ibsend_c");

	return isend(&a, ZP2P_BUFFERED, request);
}

int zip_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Issend");

	return isend(&a, ZP2P_SYNC, request);
}

int zip_Issend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Issend_c");

	return isend(&a, ZP2P_SYNC, request);
}

int zip_Irsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Irsend");

	return isend(&a, ZP2P_READY, request);
}

int zip_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct zp2p_args a = SEND_ARGS("MPI_Irsend_c");

	return isend(&a, ZP2P_READY, request);
}

int zip_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct zp2p_args a = RECV_ARGS("MPI_Recv");

	return recv_blocking(&a, status);
}

int zip_Recv_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct zp2p_args a = RECV_ARGS("MPI_Recv_c");

	return recv_blocking(&a, status);
}

int zip_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = RECV_ARGS("MPI_Irecv");

	return irecv(zcomm_find(comm), &a, request);
}

int zip_Irecv_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct zp2p_args a = RECV_ARGS("MPI_Irecv_c");

	return irecv(zcomm_find(comm), &a, request);
}
