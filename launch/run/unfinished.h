/* SPDX-License-Identifier: BSD-3-Clause */
/* The warning to the user about ranks that end without MPI_Finalize. It is held back for a while. If another rank waits
 * in vain, the job ends with a verdict that says so, and there is no warning. */
#ifndef ZIP_LAUNCH_UNFINISHED_H
#define ZIP_LAUNCH_UNFINISHED_H

#include "launch/run/run.h"

/* Have all ranks come to their end, one of them without MPI_Finalize? Then mpiexec may have killed the others. */
bool zunfinished_is_over(const struct zrun *);
/* Milliseconds until zunfinished_tick has something to do, or -1. */
int zunfinished_timeout(const struct zrun *, int64_t now_ms);
/* Warns when it is time. */
void zunfinished_tick(struct zrun *, int64_t now_ms);
/* Warns now, if there is something to warn of and it was not told yet. */
void zunfinished_tell(struct zrun *);

#endif
