/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter and MPI_Reduce_scatter_block between the groups of an intercommunicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_REDUCE_SCATTER_ACROSS_H
#define ZIP_LIBZIP_REDUCE_SCATTER_ACROSS_H

#include "libzip/coll/base/coll.h"

/* Builds the schedule. MPI_SUCCESS or an error class. */
int zreduce_scatter_across_build(struct zsched *, const struct zcoll *);

#endif
