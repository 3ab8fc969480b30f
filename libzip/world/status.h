/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling the status of a request or call. */
#ifndef ZIP_LIBZIP_STATUS_H
#define ZIP_LIBZIP_STATUS_H

#include <mpi.h>
#include <stdbool.h>

/* Fills an initialised status. bytes: count in bytes of the receiver's representation. */
void zstatus_set(MPI_Status *, int source, int tag, int error, MPI_Count bytes, bool cancelled);
/* The empty status of MPI-4.0 section 3.7.3. */
void zstatus_empty(MPI_Status *);

#endif
