/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an intercommunicator whose groups are known. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_MAKE_H
#define ZIP_LIBZIP_INTER_MAKE_H

#include <mpi.h>

#include "libzip/comm/inter.h"

/* Makes the intercommunicator, with the error handler of parent, where errors are raised. All members of both groups
 * call this. MPI_SUCCESS or an error code that has been raised. */
int zinter_make(const struct zinter *, MPI_Comm parent, const char *name, MPI_Comm *newcomm);

#endif
