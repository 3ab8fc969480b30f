/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scatter, and MPI_Scatterv with sendcounts and sdispls (vector). Under the shim's lock. */
#ifndef ZIP_LIBZIP_SCATTER_H
#define ZIP_LIBZIP_SCATTER_H

#include "libzip/coll/base/coll.h"

/* Build the schedule. MPI_SUCCESS or an error class. */
int zscatter_build(struct zsched *, const struct zcoll *);
int zscatter_build_across(struct zsched *, const struct zcoll *);

#endif
