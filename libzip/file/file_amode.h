/* SPDX-License-Identifier: BSD-3-Clause */
/* Access modes of files. Any thread. */
#ifndef ZIP_LIBZIP_FILE_AMODE_H
#define ZIP_LIBZIP_FILE_AMODE_H

#include <mpi.h>
#include <stdint.h>

#define ZFILE_AMODE_CREATES (MPI_MODE_CREATE | MPI_MODE_EXCL)

/* MPI_SUCCESS, or MPI_ERR_AMODE where modes do not go together (MPI-4.0 section 14.2.1). */
int zfile_amode_check(int amode);
/* The number by which parts call an access mode. The bits of MPI_MODE_* differ among MPI libraries. */
int64_t zfile_amode_number(int amode);

#endif
