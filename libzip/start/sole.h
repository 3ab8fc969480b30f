/* SPDX-License-Identifier: BSD-3-Clause */
/* A native job that was started without a hostfile must be a single part. */
#ifndef ZIP_LIBZIP_SOLE_H
#define ZIP_LIBZIP_SOLE_H

#include "common/base/err.h"

/*
 * Do all ranks of the native MPI_COMM_WORLD say that they belong to this part? If one launcher starts ranks of several
 * parts, as a heterogeneous srun does, each part lacks the others' ranks, and zipperd would wait for them in vain.
 * Collective over the native MPI_COMM_WORLD, before the world is made. 0, or -EINVAL with text in all ranks. Ranks that
 * take no part in this check are waited for some seconds; then 0, because zipperd tells of them.
 */
int zsole_check(const char *part, struct zerr *);

#endif
