/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library that runs: its version, and what follows from it (libzip/abi/version.h). */
#ifndef ZIP_LIBZIP_RUNNING_H
#define ZIP_LIBZIP_RUNNING_H

#include "libzip/abi/version.h"

/* The running version. Asks the native library the first time; any thread, also before MPI_Init. */
int zrunning_version(void);
/* Is `value` that constant in the running version? False: it has another value there, or none. */
bool zrunning_is(enum zversion_constant, int value);
bool zrunning_has_bug(enum zversion_bug);

#endif
