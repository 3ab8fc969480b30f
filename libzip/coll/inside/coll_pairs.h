/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step in which each member of a part gives some of the others something of their own: the vector forms of gather,
 * scatter and alltoall, where only the two of a pair know how much goes between them. What a member gives is in its
 * slot of the board (board.h) where all of it fits there; otherwise it says so there, and sends it natively, to each
 * what is for it, on a communicator of our own, as soon as that one has said that it expects something. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_PAIRS_H
#define ZIP_LIBZIP_COLL_PAIRS_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"

/* One side: a block for, or from, every member by its rank in the shadow. */
struct zpairs {
	void *buf;
	const MPI_Count *counts; /* [nlocal]; both of a pair have the same bytes */
	const MPI_Aint *displs;	 /* [nlocal]: in extents of type, or with types in bytes */
	MPI_Datatype type;
	const MPI_Datatype *types; /* [nlocal], or NULL */
	bool in_place;		   /* receiving: my own block is where it belongs */
};

/* In MPI_Init, collective over the part: MPI_SUCCESS or a native error code. */
int zpairs_init(void);
void zpairs_fini(void);
/* On a communicator with a board. Both sides are used until the step is done, and do not overlap. A block of another
 * size than expected is the error of the schedule that expects it; one that nobody expects is that of its giver, if it
 * is sent natively (what lies on the board costs nobody anything: who expects nothing does not look). MPI_SUCCESS or an
 * error class. */
int zpairs_exchange(struct zsched *, const struct zpairs *out, const struct zpairs *in);

#endif
