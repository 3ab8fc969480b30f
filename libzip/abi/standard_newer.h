/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and constants of prototypes.tab that the standard ABI lacks: those of functions that MPI-3.0 has removed, and
 * of MPICH. No native call gets them, as the library has no such functions.
 */
#ifndef ZIP_LIBZIP_STANDARD_NEWER_H
#define ZIP_LIBZIP_STANDARD_NEWER_H

#include <mpi.h>

typedef int MPI_Fint; /* the ABI has none; prototypes.tab needs it */
typedef void MPIX_Iov;
typedef int MPIX_Stream;

#include "libzip/abi/callbacks.h"

#define ZABI_INTEGER16 MPI_INTEGER16
#define MPIX_BFLOAT16 MPI_DATATYPE_NULL
#define MPIX_EQUAL MPI_OP_NULL

/* Combiners of calls in Fortran that MPI-3.0 has removed. No datatype has them. */
#define MPI_COMBINER_HVECTOR_INTEGER (-1)
#define MPI_COMBINER_HINDEXED_INTEGER (-2)
#define MPI_COMBINER_STRUCT_INTEGER (-3)

#endif
