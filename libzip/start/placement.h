/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank of this process in the merged world, by the placement map of a job that was started by hand. In the thread
 * of MPI_Init. */
#ifndef ZIP_LIBZIP_PLACEMENT_H
#define ZIP_LIBZIP_PLACEMENT_H

#include "common/control/ctl.h"
#include "common/base/err.h"

/* Fills join->vrank from the map; part, host and rank must be filled. Collective over the native MPI_COMM_WORLD, which
 * is this part. 0 or a negative errno with the reason. */
int zplacement_find(const char *path, struct zctl_join *, struct zerr *);

#endif
