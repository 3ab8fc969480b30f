/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and displacements of the members of my part, for a vector collective inside the part (inside.h). Under the
 * shim's lock. */
#ifndef ZIP_LIBZIP_COUNTS_H
#define ZIP_LIBZIP_COUNTS_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

/* By rank in the shadow, in the schedule's memory. */
struct zcounts {
	MPI_Count *of; /* [nlocal]: elements */
	MPI_Aint *at;  /* [nlocal]: displacements in elements */
};

/* Makes them, all 0. MPI_SUCCESS or an error class. */
int zcounts_make(struct zsched *, struct zcounts *);
/* Sets the displacements so that each member's data follow those of the member before. Returns the sum of the counts.
 */
MPI_Count zcounts_place(const struct zsched *, const struct zcounts *);

#endif
