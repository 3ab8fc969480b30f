/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that "zipbench tune" tunes. */
#ifndef ZIPBENCH_TUNE_TUNE_TARGETS_H
#define ZIPBENCH_TUNE_TUNE_TARGETS_H

#include <stdbool.h>

#include "common/config/tuning.h"

/* The table's "bytes" is the size of zipbench coll, or with times_ranks the size of all ranks together. Of gather and
 * scatter (whole) it is 0, as only the root knows their size: there a setting is itself a size, and one rule holds for
 * all sizes. */
struct tune_target {
	const char *name;
	enum ztuning_collective collective;
	bool times_ranks, whole;
	const char *op[2]; /* operations of zipbench coll; or NULL */
};
#define TUNE_TARGETS 9
extern const struct tune_target tune_targets[TUNE_TARGETS];

#endif
