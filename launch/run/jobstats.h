/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job has sent, for people: over the bridge, directly and natively. */
#ifndef ZIP_LAUNCH_JOBSTATS_H
#define ZIP_LAUNCH_JOBSTATS_H

#include <stdio.h>

#include "launch/start/job.h"

/* Asks all zippers of the job that are left, and prints a line for each way and direction: over the bridge that of all
 * these together, and where there are several, that of each; and a line for each that is
 * lost. 0, or a negative errno with text; then nothing is printed. */
int zjobstats_print(struct zjob *, FILE *, struct zerr *);

#endif
