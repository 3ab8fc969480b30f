/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_dup. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_DUP_H
#define ZIP_LIBZIP_COMM_DUP_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"

/* Duplicates a spanning communicator for a call of the MPI function `name`. The members have agreed on the outcome,
 * which has not been raised; after a failure *newcomm is MPI_COMM_NULL. */
void zcomm_dup(struct zcomm *, const char *name, MPI_Comm *newcomm, struct zcomm_outcome *);

#endif
