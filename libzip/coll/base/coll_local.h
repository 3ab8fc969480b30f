/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on local communicators, which native MPI carries out. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLL_LOCAL_H
#define ZIP_LIBZIP_COLL_LOCAL_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/shim/small.h"

/* May the blocking native function be called on this communicator? The same answer in all its members. */
bool zcoll_local_may_block(MPI_Comm);
/* Waits, with progress, for the native nonblocking form of a blocking call. rc is what starting it returned. Returns
 * what the MPI function returns. */
int zcoll_local_wait(int rc, MPI_Request *, MPI_Comm, const char *name);

/* The same for a call with arrays, of which libzip/shim/small.h may make copies: begin before the native call, and end
 * behind it, which waits and frees the copies. */
struct zcoll_local {
	struct zsmall_keeper keeper;
	struct zcoll_local_copy *copies;
};
void zcoll_local_begin(struct zcoll_local *);
int zcoll_local_end(struct zcoll_local *, int rc, MPI_Request *, MPI_Comm, const char *name);

#endif
