/* SPDX-License-Identifier: BSD-3-Clause */
/* This rank's memory that belongs to a window: one range, or the regions attached to a dynamic window. */
#ifndef ZIP_LIBZIP_WIN_REGION_H
#define ZIP_LIBZIP_WIN_REGION_H

#include "libzip/win/win.h"

/* Attaches a region to a dynamic window. MPI_SUCCESS or MPI_ERR_NO_MEM. */
int zwin_region_attach(struct zwin *, const void *base, MPI_Aint size);
/* Detaches the region that begins there; no effect if there is none. */
void zwin_region_detach(struct zwin *, const void *base);
void zwin_region_detach_all(struct zwin *);
/* Do the bytes from..to (to excluded) belong to the window? Addresses are relative to its base; in a dynamic window
 * they are absolute. */
bool zwin_region_holds(const struct zwin *, intptr_t from, intptr_t to);

#endif
