/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nonblocking access to files, spanning or not. */
#ifndef ZIP_LIBZIP_FILE_REQUEST_H
#define ZIP_LIBZIP_FILE_REQUEST_H

#include <mpi.h>

/* Puts the native request of a nonblocking access into a request of ours, and replaces the handle. MPI_SUCCESS, or an
 * error code that has been raised; then the access is over. */
int zfile_request_adopt(MPI_Request *, const char *function);

#endif
