/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer that the application has attached for buffered sends. Under the shim's lock. */
#ifndef ZIP_LIBZIP_BUFFER_H
#define ZIP_LIBZIP_BUFFER_H

#include <stdbool.h>

/* Native MPI has been given buffered sends: set before one is started or made. Persistent ones may be started any time
 * later, so it stays. */
extern _Atomic bool zbuffer_used;

#endif
