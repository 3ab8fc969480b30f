/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and constants of prototypes.tab that the headers of Open MPI lack: those of MPI-4.0 and later, as far as they
 * do, and of MPICH. No native call gets them, as the library has no such functions.
 */
#ifndef ZIP_LIBZIP_OMPI_NEWER_H
#define ZIP_LIBZIP_OMPI_NEWER_H

#include <mpi.h>
#include <stddef.h>

#include "libzip/abi/ompi_weak.h"

#ifndef MPI_SESSION_NULL
typedef struct zabi_session *MPI_Session;
typedef void(MPI_Session_errhandler_function)(MPI_Session *, int *, ...);
#define MPI_SESSION_NULL ((MPI_Session)NULL)
#endif
#ifndef MPI_ERRORS_ABORT
#define MPI_ERRORS_ABORT MPI_ERRORS_ARE_FATAL /* the older one of the two */
#endif
#if MPI_VERSION < 4
typedef void(MPI_User_function_c)(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int(MPI_Datarep_conversion_function_c)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
#endif

#include "libzip/abi/callbacks.h"

typedef void MPIX_Iov;
typedef int MPIX_Stream;

#ifndef MPI_BUFFER_AUTOMATIC
#define MPI_BUFFER_AUTOMATIC ((void *)-2)
#endif

/* Datatypes and operations that it does not have. */
#ifdef MPI_INTEGER16
#define ZABI_INTEGER16 MPI_INTEGER16
#else
#define ZABI_INTEGER16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL16
#define MPI_LOGICAL16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX4
#define MPI_COMPLEX4 MPI_DATATYPE_NULL
#endif
#define MPIX_BFLOAT16 MPI_DATATYPE_NULL
#define MPIX_EQUAL MPI_OP_NULL

#endif
