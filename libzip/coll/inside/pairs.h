/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step in which each member of a part gives some of the others a block of their own: the vector forms of gather,
 * scatter and alltoall, where only the two members of a pair know the size. A member puts its blocks into its slot of
 * the board (libzip/world/board.h) if all of them fit there. Otherwise its slot says that it sends natively, and it
 * sends each block on a communicator of our own, once the receiver has said that it expects one. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_PAIRS_H
#define ZIP_LIBZIP_PAIRS_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/sched.h"

/* One side: a block for, or from, each member by its rank in the shadow. */
struct zpairs {
	void *buf;
	const MPI_Count *counts; /* [nlocal]; the two sides of a pair have the same bytes */
	const MPI_Aint *displs;	 /* [nlocal]: in extents of type, or in bytes where there are types */
	MPI_Datatype type;
	const MPI_Datatype *types; /* [nlocal], or NULL */
	bool in_place;		   /* receiving: my own block is where it belongs */
};

/* In MPI_Init, collective over the part. MPI_SUCCESS or a native error code. */
int zpairs_init(void);
void zpairs_fini(void);
/* For a communicator with a board. Both sides are used until the step is done, and do not overlap. A block of another
 * size than expected is an error of the schedule that expects it. A block that nobody expects is an error of its giver
 * if it would be sent natively; on the board nobody looks at it. MPI_SUCCESS or an error class. */
int zpairs_exchange(struct zsched *, const struct zpairs *out, const struct zpairs *in);

#endif
