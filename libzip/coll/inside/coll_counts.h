/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts and displacements of the members of my part, for a native vector collective (coll_native.h), and which of
 * several leaders is in charge of whom. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_COUNTS_H
#define ZIP_LIBZIP_COLL_COUNTS_H

#include <mpi.h>

#include "libzip/coll/coll.h"

/* By rank in the shadow, in the schedule's memory. */
struct zcounts {
	MPI_Count *of; /* [nlocal] */
	MPI_Aint *at;  /* [nlocal]: in elements */
};

/* All 0. MPI_SUCCESS or an error class. */
int zcounts_make(struct zsched *, struct zcounts *);
/* One member's data after the other's. Returns how much it is in all. */
MPI_Count zcounts_place(const struct zsched *, const struct zcounts *);
/* The rank in the shadow of that leader of my part who is in charge of me (zcoll_first); *members: of how many. */
int zcounts_my_leader(const struct zsched *, int leaders, int *members);

#endif
