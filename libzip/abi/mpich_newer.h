/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and constants that only newer headers of MPICH have, as in the prototypes of prototypes.tab. A definition here
 * is the one of the MPICH ABI, so that it fits the library of any version.
 */
#ifndef ZIP_LIBZIP_MPICH_NEWER_H
#define ZIP_LIBZIP_MPICH_NEWER_H

#include <mpi.h>

#include "libzip/abi/callbacks.h"

#ifndef MPI_BUFFER_AUTOMATIC
#define MPI_BUFFER_AUTOMATIC ((void *)-2) /* MPICH 4.2 */
#endif

#ifndef MPI_LOGICAL1 /* MPICH 5 */
#define MPI_LOGICAL1 ((MPI_Datatype)0x4c000147)
#define MPI_LOGICAL2 ((MPI_Datatype)0x4c000248)
#define MPI_LOGICAL4 ((MPI_Datatype)0x4c000449)
#define MPI_LOGICAL8 ((MPI_Datatype)0x4c00084a)
#define MPI_LOGICAL16 ((MPI_Datatype)0x4c00104b)
#endif
#define ZABI_INTEGER16 ((MPI_Datatype)0x4c001032) /* MPI_INTEGER16, which older headers have as no datatype */
#ifndef MPIX_BFLOAT16
#define MPIX_BFLOAT16 ((MPI_Datatype)0x4c00024c)
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 ((MPI_Datatype)0x4c000226)
#define MPI_COMPLEX4 ((MPI_Datatype)0x4c00042e)
#endif

#ifndef MPIX_EQUAL
#define MPIX_EQUAL ((MPI_Op)0x5800000f)
#endif

#ifndef MPIX_STREAM_NULL
typedef int MPIX_Stream; /* an execution context of the application, MPICH 4.1 */
#endif

#endif
