/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of two or more ranks, one for each cluster, that measures what lies between them. zmpirun starts itself for it,
 * so this is a job as any other, except that it is never recorded. Start-up only. */
#ifndef ZIP_LAUNCH_TRIAL_H
#define ZIP_LAUNCH_TRIAL_H

#include "common/doctor/report.h"
#include "launch/base/scratch.h"
#include "launch/plan/plan.h"
#include "launch/start/locate.h"

/* Runs it on the first host of each part, and prints a line for each part but the first, or why there was no job. */
void ztrial_run(struct zreport *, const struct zoptions *, const struct zplan *, const struct zlocate *,
	const struct zscratch *);

#endif
