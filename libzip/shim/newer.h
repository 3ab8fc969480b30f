/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types that only newer headers of MPICH have, for the prototypes of prototypes.tab. A definition here is the one of
 * the MPICH ABI, so that it fits the library of any version.
 */
#ifndef ZIP_LIBZIP_NEWER_H
#define ZIP_LIBZIP_NEWER_H

#include <mpi.h>

#ifndef MPIX_STREAM_NULL
typedef int MPIX_Stream; /* an execution context of the application, MPICH 4.1 */
#endif

#endif
