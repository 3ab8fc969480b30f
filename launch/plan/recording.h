/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the run recorded? Start-up only; one thread. */
#ifndef ZIP_LAUNCH_RECORDING_H
#define ZIP_LAUNCH_RECORDING_H

#include "common/base/err.h"
#include "launch/plan/options.h"

/* Do the command line and our environment name a file for the graph of the run? Returns 1 or 0; or -EINVAL with text:
 * the programs of the command line have different names, and all ranks are recorded in one file. */
int zrecording_find(const struct zoptions *, struct zerr *);

#endif
