/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_group. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_CREATE_H
#define ZIP_LIBZIP_COMM_CREATE_H

#include <mpi.h>

/* MPI_Comm_create_group for a call of the MPI function `name`. Returns what the MPI function returns. */
int zcomm_create_group(MPI_Comm, MPI_Group, int tag, const char *name, MPI_Comm *newcomm);

#endif
