/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoallw in place inside a part. MPICH 4.0.2's MPI_Ialltoallw, which stands for the blocking function here,
 * takes all blocks of an exchange in place for ones of the same datatype (its blocking function does not). So what a
 * member gives is packed before, and the exchange is none in place. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_IN_PLACE_H
#define ZIP_LIBZIP_COLL_IN_PLACE_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/coll/coll_alltoall.h"

struct zpacked { /* what MPI_Alltoallw takes on the sending side */
	MPI_Count *counts;
	MPI_Aint *displs;
	MPI_Datatype *types;
	char *data;
};

/* The blocks for the members of my part, by their rank in the shadow, as they are now. In the schedule's memory.
 * MPI_SUCCESS or an error class. */
int zpacked_local(struct zsched *, const struct zside *, struct zpacked *);
/* As zcoll.local. */
bool zpacked_run(const struct zcoll *, MPI_Comm, int *rc);

#endif
