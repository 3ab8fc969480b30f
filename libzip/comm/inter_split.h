/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split of a spanning intercommunicator, and by that MPI_Comm_create. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_SPLIT_H
#define ZIP_LIBZIP_INTER_SPLIT_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"

/* As zcomm_split (comm_split.h). */
MPI_Comm zinter_split_make(struct zcomm *, int color, int key, const char *name, struct zcomm_outcome *);
/* MPI_SUCCESS or an error code that has been raised. */
int zinter_split(struct zcomm *, int color, int key, MPI_Comm *newcomm, const char *name);

#endif
