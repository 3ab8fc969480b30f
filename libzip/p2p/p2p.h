/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The base of the point-to-point MPI functions: argument checks, and starting a send or receive natively or over the
 * bridge. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_P2P_H
#define ZIP_LIBZIP_P2P_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/p2p/buffer.h"
#include "libzip/world/comm.h"
#include "libzip/world/req.h"
#include "libzip/shim/shim.h"

/* COPIED is standard, but over the bridge the buffer may be used again at once; natively it may not. */
enum zp2p_mode { ZP2P_STANDARD, ZP2P_BUFFERED, ZP2P_SYNC, ZP2P_READY, ZP2P_COPIED };

/* The arguments of a call; name is the MPI function, for error texts. */
struct zp2p_args {
	const char *name;
	MPI_Comm comm;
	void *buf; /* sends do not write there */
	MPI_Count count;
	MPI_Datatype type;
	int rank, tag;
};

/* Checks the arguments of a call on a spanning communicator. MPI_SUCCESS, or the code after the error handler. */
int zp2p_check_send(const struct zcomm *, const struct zp2p_args *);
int zp2p_check_recv(const struct zcomm *, const struct zp2p_args *);
/* Checks source and tag only (probes). */
int zp2p_check_probe(const struct zcomm *, const char *name, int source, int tag);

/* Start a send or receive; the request is native or ours. c: the spanning communicator; NULL: a local one, where
 * everything is native, also the checks. MPI_SUCCESS or a code that has been raised. */
int zp2p_isend(struct zcomm *c, const struct zp2p_args *, enum zp2p_mode, MPI_Request *);
int zp2p_irecv(struct zcomm *c, const struct zp2p_args *, MPI_Request *);

/* Start it natively. Inline, so that mode and size of count are constants in the functions that programs call. */
static inline int zp2p_native_isend(const struct zp2p_args *a, MPI_Comm comm, int rank, enum zp2p_mode mode,
	MPI_Request *r)
{
	if (mode == ZP2P_BUFFERED)
		zbuffer_used = true;
	switch (mode) {
	case ZP2P_BUFFERED:
		return znative_Ibsend(a->buf, a->count, a->type, rank, a->tag, comm, r);
	case ZP2P_SYNC:
		return znative_Issend(a->buf, a->count, a->type, rank, a->tag, comm, r);
	case ZP2P_READY:
		return znative_Irsend(a->buf, a->count, a->type, rank, a->tag, comm, r);
	default:
		return znative_Isend(a->buf, a->count, a->type, rank, a->tag, comm, r);
	}
}

static inline int zp2p_native_irecv(const struct zp2p_args *a, MPI_Comm comm, int rank, MPI_Request *r)
{
	return znative_Irecv(a->buf, a->count, a->type, rank, a->tag, comm, r);
}

#endif
