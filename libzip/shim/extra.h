/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points of MPICH that its Fortran library calls behind the MPI names. They take a communicator, or read a
 * window's attributes. The communicator must become its shadow, as in MPI_Comm_get_attr, and a window must tell the
 * size that the program gave. No header of MPICH declares these functions. The last argument is an enum of MPICH: the
 * integer type that the Fortran caller wants.
 */
#ifndef ZIP_LIBZIP_EXTRA_H
#define ZIP_LIBZIP_EXTRA_H

#include <mpi.h>

/* As the last argument: an INTEGER, for mpif.h; else one of MPI_ADDRESS_KIND. */
#define ZEXTRA_AS_INT 3 /* MPIR_ATTR_INT */

int MPII_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag, int kind);
int MPII_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int kind);
int MPII_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag, int kind);

#endif
