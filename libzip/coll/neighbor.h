/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives (MPI-4.0 section 8.6). The communicator has a topology. Under the shim's lock. */
#ifndef ZIP_LIBZIP_NEIGHBOR_H
#define ZIP_LIBZIP_NEIGHBOR_H

#include "libzip/coll/base/coll.h"

/* Build the schedules. MPI_SUCCESS or an error class. */
int zneighbor_build_allgather(struct zsched *, const struct zcoll *); /* and allgatherv */
int zneighbor_build_alltoall(struct zsched *, const struct zcoll *);
int zneighbor_build_alltoallv(struct zsched *, const struct zcoll *);
int zneighbor_build_alltoallw(struct zsched *, const struct zcoll *);

#endif
