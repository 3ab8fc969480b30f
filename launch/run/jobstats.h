/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of a job, for people: over the bridge, directly and natively. */
#ifndef ZIP_LAUNCH_JOBSTATS_H
#define ZIP_LAUNCH_JOBSTATS_H

#include <stdio.h>

#include "launch/start/job.h"

/* Asks all zippers of the job that are left. Prints a line for each way and direction: over the bridge for all zippers
 * together, and for each zipper where there are several. Prints a line for each zipper that is lost. 0, or a negative
 * errno with text; then nothing is printed. */
int zjobstats_print(struct zjob *, FILE *, struct zerr *);

#endif
