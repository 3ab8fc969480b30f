/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather, and MPI_Allgatherv with recvcounts and rdispls (vector). Under the shim's lock. */
#ifndef ZIP_LIBZIP_ALLGATHER_H
#define ZIP_LIBZIP_ALLGATHER_H

#include "libzip/coll/base/coll.h"

/* Build the schedule. MPI_SUCCESS or an error class. */
int zallgather_build(struct zsched *, const struct zcoll *);
int zallgather_build_across(struct zsched *, const struct zcoll *);

#endif
