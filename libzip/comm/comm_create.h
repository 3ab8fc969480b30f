/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_group, and MPI_Comm_create_from_group (MPI-4.0 section 7.4.2). Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_CREATE_H
#define ZIP_LIBZIP_COMM_CREATE_H

#include <mpi.h>

/* MPI_Comm_create_group for a call of the MPI function `name`. With a stringtag that of MPI_Comm_create_from_group, on
 * MPI_COMM_WORLD: the communicator belongs to the session that the group comes from. Otherwise stringtag is NULL.
 * Returns what the MPI function returns. */
int zcomm_create_group(MPI_Comm, MPI_Group, int tag, const char *stringtag, const char *name, MPI_Comm *newcomm);

#endif
