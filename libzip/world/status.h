/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling the status of a request or call. */
#ifndef ZIP_LIBZIP_STATUS_H
#define ZIP_LIBZIP_STATUS_H

#include <mpi.h>
#include <stdbool.h>

/* Fills an initialised status. bytes: count in bytes of the receiver's representation. */
void zstatus_set(MPI_Status *, int source, int tag, int error, MPI_Count bytes, bool cancelled);
/* Is it a null pointer that does not stand for MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE? In Open MPI these are null. */
static inline bool zstatus_is_missing(const MPI_Status *status)
{
	return !status && status != MPI_STATUS_IGNORE;
}
/* The empty status of MPI-4.0 section 3.7.3. */
void zstatus_empty(MPI_Status *);

#endif
