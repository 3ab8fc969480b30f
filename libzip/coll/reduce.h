/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce. Under the shim's lock. */
#ifndef ZIP_LIBZIP_REDUCE_H
#define ZIP_LIBZIP_REDUCE_H

#include "libzip/coll/base/coll.h"

/* Builds the schedule from sendbuf, recvbuf, recvcount, recvtype, op and root. MPI_SUCCESS or an error class. */
int zreduce_build(struct zsched *, const struct zcoll *);

#endif
