/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoallw in place inside a part. MPI_Ialltoallw of some versions of MPICH, which the blocking function uses
 * here, takes all blocks of an exchange in place for blocks of the same datatype (ZVERSION_IALLTOALLW). (MPICH's
 * blocking function does not.) So each member packs its blocks first, and the exchange is not in place. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_PACKED_H
#define ZIP_LIBZIP_PACKED_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/coll/side.h"

struct zpacked { /* the arguments of MPI_Alltoallw on the sending side */
	MPI_Count *counts;
	MPI_Aint *displs;
	MPI_Datatype *types;
	char *data;
};

/* Packs the blocks for the members of my part, by their rank in the shadow, as they are now. In the schedule's memory.
 * MPI_SUCCESS or an error class. */
int zpacked_local(struct zsched *, const struct zside *, struct zpacked *);
/* The blocking call on a local communicator: see `local` of struct zcoll. False: the native function is right. */
bool zpacked_run(const struct zcoll *, MPI_Comm, int *rc);

#endif
