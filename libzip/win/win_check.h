/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a call on a window correct now? Each check returns MPI_SUCCESS, or the code of an error that the window's error
 * handler has been called with. name is the MPI function, for the text. */
#ifndef ZIP_LIBZIP_WIN_CHECK_H
#define ZIP_LIBZIP_WIN_CHECK_H

#include "libzip/win/win.h"

/* Is rank a rank in the window, or MPI_PROC_NULL? */
int zwin_check_rank(const struct zwin *, int rank, const char *name);
/* Are all bits of the assertion among the known ones? */
int zwin_check_assert(const struct zwin *, int assertion, int known, const char *name);
/* May the origin open another access epoch? */
int zwin_check_idle(const struct zwin *, const char *name);
/* Are all epochs closed, exposure epochs included? */
int zwin_check_closed(const struct zwin *, const char *name);

#endif
