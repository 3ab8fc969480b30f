/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce and MPI_Allreduce between the groups of an intercommunicator. Each group gets the contributions of the
 * other group. Under the shim's lock. */
#ifndef ZIP_LIBZIP_REDUCE_ACROSS_H
#define ZIP_LIBZIP_REDUCE_ACROSS_H

#include "libzip/coll/base/coll.h"

/* Build the schedules. MPI_SUCCESS or an error class. */
int zreduce_across_build(struct zsched *, const struct zcoll *);
int zreduce_across_build_all(struct zsched *, const struct zcoll *);

#endif
