/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two groups of MPI_Intercomm_create come to know each other. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_AGREE_H
#define ZIP_LIBZIP_INTER_AGREE_H

#include <mpi.h>

#include "libzip/comm/inter.h"

#define ZINTER_NATIVE (-1)
/* MPI_Intercomm_create up to there. Collective over local_comm, an intracommunicator. MPI_SUCCESS or an error code that
 * has been raised. ZINTER_NATIVE: a member is not of this world (a child of MPI_Comm_spawn), so that all is native;
 * nothing has been allocated then. nmine is 0 where this rank has found an error before it told anybody. */
int zinter_agree(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
	const char *name, struct zinter *);

#endif
