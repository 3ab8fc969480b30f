/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split of intracommunicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_SPLIT_H
#define ZIP_LIBZIP_COMM_SPLIT_H

#include <mpi.h>

#include "libzip/world/comm.h"

/* Splits an intracommunicator of the table. topo is the topology of the new communicator that this rank will be in, or
 * NULL; the new communicator takes a reference of its own. MPI_SUCCESS or an error code that has been raised. */
int zcomm_split(struct zcomm *, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm);

#endif
