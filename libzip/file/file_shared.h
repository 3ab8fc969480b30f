/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions on shared file pointers share. Under the shim's lock. */
#ifndef ZIP_LIBZIP_FILE_SHARED_H
#define ZIP_LIBZIP_FILE_SHARED_H

#include <mpi.h>

#include "libzip/file/file.h"

/* Raises a negative errno of the pointer's functions on the file, 0: nothing. */
int zfile_shared_error(const struct zfile *, int error, const char *function);
/* Raises that there cannot be a pointer for all parts, where each may have a copy of the file. */
int zfile_shared_check(const struct zfile *, const char *function);
/* Raises what MPI says of a function that is not allowed in this mode of access, MPI_MODE_SEQUENTIAL, _RDONLY (of one
 * that writes) or _WRONLY (that reads), if the file is opened so. */
int zfile_shared_refuse(const struct zfile *, int mode, const char *function);

#endif
