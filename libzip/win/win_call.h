/* SPDX-License-Identifier: BSD-3-Clause */
/* The one-sided operations (MPI-4.0 section 12.3) on windows that span. */
#ifndef ZIP_LIBZIP_WIN_CALL_H
#define ZIP_LIBZIP_WIN_CALL_H

#include "libzip/win/win_origin.h"

/* Runs an operation: checks its arguments, and starts it natively or as a message. request: receives its request; NULL:
 * the function has none. MPI_SUCCESS or a code that has been raised. */
int zwin_call_run(const struct zwin_call *, MPI_Win, MPI_Request *request);

#endif
