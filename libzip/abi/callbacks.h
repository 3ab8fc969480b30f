/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks with a state of the application's, as MPICH 5 has them. prototypes.tab names them. The header of a family
 * includes this where it has defined MPI_Session. */
#ifndef ZIP_LIBZIP_CALLBACKS_H
#define ZIP_LIBZIP_CALLBACKS_H

#include <mpi.h>

typedef void(MPIX_Comm_errhandler_function_x)(MPI_Comm, int, void *);
typedef void(MPIX_Win_errhandler_function_x)(MPI_Win, int, void *);
typedef void(MPIX_File_errhandler_function_x)(MPI_File, int, void *);
typedef void(MPIX_Session_errhandler_function_x)(MPI_Session, int, void *);
typedef void(MPIX_User_function_x)(void *, void *, MPI_Count, MPI_Datatype, void *);
typedef void(MPIX_Destructor_function)(void *);

#endif
