/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the MPI standard ABI (MPI-5.0 chapter 20). Libraries of several MPIs have the same name; which one a
 * program gets is decided when it starts, and decides which launcher must start it. */
#ifndef ZIP_LAUNCH_STANDARD_H
#define ZIP_LAUNCH_STANDARD_H

#include <stdbool.h>

#include "launch/plan/mpi.h"

/* Is that the name of a library of the standard ABI? */
bool zstandard_is(const char *library);
/* Whose library of the standard ABI does a program get? Asks its dynamic linker, with this LD_LIBRARY_PATH (NULL:
 * none). ZMPI_UNKNOWN: the linker does not say. */
enum zmpi zstandard_find(const char *linker, const char *file, const char *library_path);

#endif
