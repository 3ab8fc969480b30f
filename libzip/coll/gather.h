/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gather, and MPI_Gatherv with recvcounts and rdispls (vector). Under the shim's lock. */
#ifndef ZIP_LIBZIP_GATHER_H
#define ZIP_LIBZIP_GATHER_H

#include "libzip/coll/base/coll.h"

/* Build the schedule. MPI_SUCCESS or an error class. */
int zgather_build(struct zsched *, const struct zcoll *);
int zgather_build_across(struct zsched *, const struct zcoll *);

#endif
