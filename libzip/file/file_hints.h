/* SPDX-License-Identifier: BSD-3-Clause */
/* The hints of a file that several native jobs write at the same time. */
#ifndef ZIP_LIBZIP_FILE_HINTS_H
#define ZIP_LIBZIP_FILE_HINTS_H

#include <mpi.h>

/* The hints to open a file with, or to set on it: the program's, with those switched off that lose data while another
 * native job writes to the file. The caller frees *out if it is not info itself. A native error code. */
int zfile_hints(MPI_Info info, int amode, MPI_Info *out);

#endif
