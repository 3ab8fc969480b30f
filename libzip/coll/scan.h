/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan and MPI_Exscan. Under the shim's lock. */
#ifndef ZIP_LIBZIP_SCAN_H
#define ZIP_LIBZIP_SCAN_H

#include "libzip/coll/base/coll.h"

/* Build the schedules from sendbuf, recvbuf, recvcount, recvtype and op. MPI_SUCCESS or an error class. */
int zscan_build(struct zsched *, const struct zcoll *);
int zscan_build_exclusive(struct zsched *, const struct zcoll *);

/* Carries out an exclusive scan that is part of the MPI function `name`, on an intracommunicator. Rank 0 gets nothing.
 * MPI_SUCCESS or an error code that has been raised. */
int zscan_run_exclusive(struct zcomm *, const char *name, const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype, MPI_Op);

#endif
