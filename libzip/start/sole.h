/* SPDX-License-Identifier: BSD-3-Clause */
/* A native job that was started without a hostfile must be a single part. */
#ifndef ZIP_LIBZIP_SOLE_H
#define ZIP_LIBZIP_SOLE_H

#include "common/base/err.h"

/*
 * Do all ranks of the native MPI_COMM_WORLD say that they belong to this part? If one launcher starts ranks of several
 * parts, as a heterogeneous srun does, each part lacks the others' ranks, and zipperd would wait for them in vain.
 * Collective over the native MPI_COMM_WORLD, before the world is made. 0, or -EINVAL with text.
 *
 * Ranks without a job take no part in this check. So a rank gives up some seconds after it began to wait, and returns
 * 0: zipperd tells of ranks that are missing. Each rank counts from its own begin (libzip/shim/patience.h). So ranks
 * that come late can return -EINVAL where an early one has returned 0 and waits for zipperd; the end of a late rank
 * ends that one, too. A comparison that was given up stays with native MPI.
 */
int zsole_check(const char *part, struct zerr *);

#endif
