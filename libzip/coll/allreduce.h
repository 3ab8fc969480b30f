/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce. Under the shim's lock. */
#ifndef ZIP_LIBZIP_ALLREDUCE_H
#define ZIP_LIBZIP_ALLREDUCE_H

#include "libzip/coll/base/coll.h"

/* Builds the schedule from sendbuf, recvbuf, recvcount, recvtype and op. MPI_SUCCESS or an error class. */
int zallreduce_build(struct zsched *, const struct zcoll *);

#endif
