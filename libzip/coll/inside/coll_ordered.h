/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans inside a part that combine in one order, whether its members have a board (board.h) or there was none left for
 * them: which communicators have one depends on when others are freed, and the bits of a result must not. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_ORDERED_H
#define ZIP_LIBZIP_COLL_ORDERED_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"

/* Is it done so? The same in all members, for all communicators with as many members in the part. */
bool zordered_scans(const struct zsched *, MPI_Count count, MPI_Datatype, MPI_Op);
/* A step as zshared_scan. MPI_SUCCESS or an error class. */
int zordered_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	bool exclusive);

#endif
