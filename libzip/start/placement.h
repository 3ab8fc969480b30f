/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank of the merged world this process is, by the placement map of a job that was started by hand. MPI_Init's
 * thread. */
#ifndef ZIP_LIBZIP_PLACEMENT_H
#define ZIP_LIBZIP_PLACEMENT_H

#include "common/control/ctl.h"
#include "common/base/err.h"

/* Fills join->vrank from the map; part, host and rank are filled. Collective over the native MPI_COMM_WORLD, which is
 * this part. 0 or a negative errno with the reason. */
int zplacement_find(const char *path, struct zctl_join *, struct zerr *);

#endif
