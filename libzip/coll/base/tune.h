/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's tuning table, zipper.tuning(5). MPI_Init fills it, the same in all ranks; then it is only read. */
#ifndef ZIP_LIBZIP_TUNE_H
#define ZIP_LIBZIP_TUNE_H

#include <mpi.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/config/tuning.h"
#include "libzip/world/comm.h"

/* Fills the table with the defaults, then from a file (ZIPPER_TUNING), then with single rules (ZIPPER_TUNE). file and
 * rules may be NULL. 0 or a negative errno with the reason. */
int ztune_init(const char *file, const char *rules, struct zerr *);
void ztune_fini(void);
/* A digest of the table, by which zipperd sees that all ranks have the same one. */
uint64_t ztune_digest(void);

/* The settings for one call on this communicator. bytes is a number that all members know, see zipper.tuning(5). */
struct ztuning_settings ztune_choose(const struct zcomm *, enum ztuning_collective, MPI_Count bytes);

#endif
