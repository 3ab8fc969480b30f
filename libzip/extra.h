/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points of MPICH that its Fortran library calls behind the MPI names and that take a communicator: they must
 * see the shadow as MPI_Comm_get_attr does. No header of MPICH declares them. The last argument is an enum of MPICH
 * that says which integer type the Fortran caller wants; it is passed through.
 */
#ifndef ZIP_LIBZIP_EXTRA_H
#define ZIP_LIBZIP_EXTRA_H

#include <mpi.h>

int MPII_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag, int kind);
int MPII_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int kind);

#endif
