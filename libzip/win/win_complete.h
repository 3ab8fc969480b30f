/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of the operations that this rank has started on a window (MPI-4.0 section 12.5.4). The functions wait, and
 * return MPI_SUCCESS or a code that the window's error handler has been called with. name is the MPI function, for the
 * text. */
#ifndef ZIP_LIBZIP_WIN_COMPLETE_H
#define ZIP_LIBZIP_WIN_COMPLETE_H

#include "libzip/win/win.h"

/* Waits until all operations on one member (NULL: on all) are complete at origin and target. release: and gives back
 * the lock of that member. */
int zwin_complete(struct zwin *, struct zwin_peer *, bool release, const char *name);
/* Waits until they are complete at the origin alone. */
int zwin_complete_here(struct zwin *, struct zwin_peer *, const char *name);
/* Waits until the other members have taken every message of this rank. For the end of the window. */
int zwin_complete_talk(struct zwin *, const char *name);

#endif
