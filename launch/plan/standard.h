/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the MPI standard ABI (MPI-5.0 chapter 20). The libraries of several MPIs have one name. The dynamic
 * linker picks one when the program starts. The launcher must be of the same MPI. */
#ifndef ZIP_LAUNCH_STANDARD_H
#define ZIP_LAUNCH_STANDARD_H

#include <stdbool.h>

#include "launch/plan/mpi.h"

/* Is that the name of a library of the standard ABI? */
bool zstandard_is(const char *library);
/* Whose library of the standard ABI does a program get? Asks its dynamic linker, with this LD_LIBRARY_PATH (NULL:
 * none). ZMPI_UNKNOWN: the linker does not say, or is none by its name. */
enum zmpi zstandard_find(const char *linker, const char *file, const char *library_path);

#endif
