/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplication of a spanning intercommunicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_DUP_H
#define ZIP_LIBZIP_INTER_DUP_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

struct zinter_dup;
/* Adds the steps besides the duplication of the handle itself. MPI_SUCCESS or an error class. */
int zinter_dup_build(struct zsched *, struct zinter_dup **);
/* The end, after all steps. It takes over the new handle. MPI_SUCCESS or an error class. */
int zinter_dup_finish(struct zinter_dup *, MPI_Comm handle, MPI_Comm *newcomm);

#endif
