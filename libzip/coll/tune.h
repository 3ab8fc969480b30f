/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's tuning table, zipper.tuning(5): read in MPI_Init, the same in all ranks. */
#ifndef ZIP_LIBZIP_TUNE_H
#define ZIP_LIBZIP_TUNE_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "common/base/err.h"
#include "common/config/tuning.h"

struct zenv;

/* Defaults, then the file that env names, then its single rules. 0 or a negative errno with the reason. */
int ztune_init(const struct zenv *, struct zerr *);
void ztune_fini(void);
/* For zipperd, who sees that all ranks have the same. */
uint64_t ztune_digest(void);

/* The settings for one call. bytes: a number that all members know, see zipper.tuning(5). */
struct ztuning_settings ztune_choose(const struct zcomm *, enum ztuning_collective, MPI_Count bytes);

#endif
