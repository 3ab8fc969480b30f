/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast. Under the shim's lock. */
#ifndef ZIP_LIBZIP_BCAST_H
#define ZIP_LIBZIP_BCAST_H

#include "libzip/coll/base/coll.h"

/* Build the schedule from recvbuf, recvcount, recvtype and root. MPI_SUCCESS or an error class. */
int zbcast_build(struct zsched *, const struct zcoll *);
int zbcast_build_across(struct zsched *, const struct zcoll *);
/* The same as a part of another schedule. Ends its last round. */
int zbcast_add(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);

/* Carries out a broadcast that is part of the MPI function `name`, on an intracommunicator. MPI_SUCCESS or an error
 * code that has been raised. */
int zbcast_run(struct zcomm *, const char *name, void *buf, MPI_Count count, MPI_Datatype, int root);

#endif
