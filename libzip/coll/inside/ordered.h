/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans inside a part that always combine in one order, whether the communicator has a board (libzip/world/board.h) or
 * none was left for it. Which communicators have a board depends on when others are freed, and the bits of a result
 * must not depend on that. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ORDERED_H
#define ZIP_LIBZIP_ORDERED_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/sched.h"

/* Is a scan of these arguments done in this way? The same answer in all members, and for all communicators with as many
 * members in the part. */
bool zordered_scans(const struct zsched *, MPI_Count count, MPI_Datatype, MPI_Op);
/* A step with the arguments of zshared_scan. MPI_SUCCESS or an error class. */
int zordered_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	bool exclusive);

#endif
