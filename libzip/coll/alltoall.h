/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall; MPI_Alltoallv with counts and displacements (vector); MPI_Alltoallw with types, too. Under the shim's
 * lock. */
#ifndef ZIP_LIBZIP_ALLTOALL_H
#define ZIP_LIBZIP_ALLTOALL_H

#include "libzip/coll/base/coll.h"

/* Build the schedule. MPI_SUCCESS or an error class. */
int zalltoall_build(struct zsched *, const struct zcoll *);
int zalltoall_build_across(struct zsched *, const struct zcoll *);

#endif
