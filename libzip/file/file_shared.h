/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of the functions on shared file pointers. Under the shim's lock. All return MPI_SUCCESS or a code that has
 * been raised. */
#ifndef ZIP_LIBZIP_FILE_SHARED_H
#define ZIP_LIBZIP_FILE_SHARED_H

#include <mpi.h>

#include "libzip/file/file.h"

/* Raises a negative errno of file_pointer.h on the file; 0: nothing to raise. */
int zfile_shared_error(const struct zfile *, int error, const char *function);
/* Raises an error where each part may have a copy of the file: then there can be no pointer for all parts. */
int zfile_shared_check(const struct zfile *, const char *function);
/* Raises MPI's error for a function that the file's access mode forbids. mode: MPI_MODE_SEQUENTIAL, MPI_MODE_RDONLY
 * (the function writes) or MPI_MODE_WRONLY (the function reads). */
int zfile_shared_refuse(const struct zfile *, int mode, const char *function);

#endif
