/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs whose ranks come back to a zipperd that was started again. A rank that computes does not come before it calls
 * MPI again, however long that takes. So such a job waits without a limit, as long as somebody would tell of the death
 * of each missing rank. Control thread.
 */
#ifndef ZIPPERD_JOB_RETURN_H
#define ZIPPERD_JOB_RETURN_H

#include "zipperd/job/job.h"

/* Does the job come back, or does it begin? */
static inline bool job_return_is(const struct job *j)
{
	return j->incarnation > 0 || j->again;
}
/* A rank or the launcher has come, or a rank says that it finalizes: sets the time at which the job ends if the others
 * have not come. No effect on a job that does not form or does not come back. */
void job_return_wait(struct job *);

#endif
