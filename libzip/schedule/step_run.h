/* SPDX-License-Identifier: BSD-3-Clause */
/* How the steps of a schedule begin and end, for the engine. Under the shim's lock. */
#ifndef ZIP_LIBZIP_STEP_RUN_H
#define ZIP_LIBZIP_STEP_RUN_H

#include "libzip/schedule/sched_state.h"

/* Begins the step of that number; it may be done at once. A call may add steps, which moves all steps in memory. */
void zstep_run_begin(struct zsched *, int i);
/* Looks at a step that has begun: is it done? An error of the step becomes the schedule's. */
bool zstep_run_is_done(struct zsched *, struct zstep *);

#endif
