/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types that only newer headers of MPICH have, for the prototypes of prototypes.tab. A definition here is the one of
 * the MPICH ABI, so that it fits the library of any version.
 */
#ifndef ZIP_LIBZIP_NEWER_H
#define ZIP_LIBZIP_NEWER_H

#include <mpi.h>

/* Callbacks with a state of the application's, MPICH 5. */
typedef void(MPIX_Comm_errhandler_function_x)(MPI_Comm, int, void *);
typedef void(MPIX_Win_errhandler_function_x)(MPI_Win, int, void *);
typedef void(MPIX_File_errhandler_function_x)(MPI_File, int, void *);
typedef void(MPIX_Session_errhandler_function_x)(MPI_Session, int, void *);
typedef void(MPIX_User_function_x)(void *, void *, MPI_Count, MPI_Datatype, void *);
typedef void(MPIX_Destructor_function)(void *);

#ifndef MPIX_STREAM_NULL
typedef int MPIX_Stream; /* an execution context of the application, MPICH 4.1 */
#endif

#endif
