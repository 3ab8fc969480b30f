/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. Under the shim's lock. */
#ifndef ZIP_LIBZIP_BARRIER_H
#define ZIP_LIBZIP_BARRIER_H

#include "libzip/coll/base/coll.h"

/* Builds the schedule, also across. No arguments: the struct may be NULL. MPI_SUCCESS or an error class. */
int zbarrier_build(struct zsched *, const struct zcoll *);

/* Waits until all members of the communicator have called this. MPI_SUCCESS or an error code that has been raised. */
int zbarrier_run(struct zcomm *);

#endif
