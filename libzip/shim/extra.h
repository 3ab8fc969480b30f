/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points of MPICH that its Fortran library calls behind the MPI names and that take a communicator, or ask a
 * window: they must see the shadow as MPI_Comm_get_attr does, and the size that the program gave. No header of MPICH
 * declares them. The last argument is an enum of MPICH that says which integer type the Fortran caller wants.
 */
#ifndef ZIP_LIBZIP_EXTRA_H
#define ZIP_LIBZIP_EXTRA_H

#include <mpi.h>

int MPII_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag, int kind);
int MPII_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int kind);
int MPII_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag, int kind);

#endif
