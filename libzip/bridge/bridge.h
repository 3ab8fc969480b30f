/* SPDX-License-Identifier: BSD-3-Clause */
/* Bridged point-to-point messages, to and from remote ranks of a spanning communicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_BRIDGE_H
#define ZIP_LIBZIP_BRIDGE_H

#include <mpi.h>

#include "libzip/stream/op.h"
#include "libzip/world/comm.h"
#include "libzip/world/req.h"

/* Starts a send to a remote rank of comm. The request is ours (zreq_done, zreq_release). MPI class or MPI_SUCCESS;
 * MPI_ERR_BUFFER: a buffered send for which the attached buffer has no room now (buffer_wait.h waits). */
int zbridge_isend(struct zcomm *, enum zcomm_context, const void *buf, MPI_Count count, MPI_Datatype, int dest, int tag,
	enum zsend_mode, struct zreq **);
/* Starts a receive from a remote rank of comm, the bridged half only. tag may be MPI_ANY_TAG. zp2p_irecv (p2p.h)
 * receives from MPI_ANY_SOURCE. */
int zbridge_irecv(struct zcomm *, enum zcomm_context, void *buf, MPI_Count count, MPI_Datatype, int source, int tag,
	struct zreq **);
/* How many bytes from the beginning of the buffer a receive of MPI_BYTE has already got; 0 before anything is known. */
MPI_Count zbridge_arrived(const struct zreq *);

#endif
