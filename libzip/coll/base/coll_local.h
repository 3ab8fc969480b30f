/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on local communicators, which native MPI carries out. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLL_LOCAL_H
#define ZIP_LIBZIP_COLL_LOCAL_H

#include <mpi.h>
#include <stdbool.h>

/* May the blocking native function be called on this communicator? The same answer in all its members. */
bool zcoll_local_may_block(MPI_Comm);
/* Waits, with progress, for the native nonblocking form of a blocking call. rc is what starting it returned. Returns
 * what the MPI function returns. */
int zcoll_local_wait(int rc, MPI_Request *, MPI_Comm, const char *name);

#endif
