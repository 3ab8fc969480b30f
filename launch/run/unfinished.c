/* SPDX-License-Identifier: BSD-3-Clause */
/* Warns of ranks that end without MPI_Finalize, see unfinished.h. */
#include "launch/run/unfinished.h"

#include <string.h>

#define PATIENCE_MS 10000 /* a rank that waits in vain ends the job long before (zipperd/job/job_ends.h) */

bool zunfinished_is_over(const struct zrun *run)
{
	return run->job->ended && run->job->done >= (uint32_t)run->plan->nranks;
}

static bool is_due(const struct zrun *run)
{
	return run->job->ended && !run->unfinished_told;
}

int zunfinished_timeout(const struct zrun *run, int64_t now)
{
	if (!is_due(run))
		return -1;
	int64_t left = run->unfinished_ms ? run->unfinished_ms + PATIENCE_MS - now : 0;
	return left > 0 ? (int)left : 0;
}

void zunfinished_tick(struct zrun *run, int64_t now)
{
	if (!is_due(run))
		return;
	if (run->unfinished_ms == 0)
		run->unfinished_ms = now;
	if (run->phase == ZRUN_GOING && now >= run->unfinished_ms + PATIENCE_MS)
		zunfinished_tell(run);
}

void zunfinished_tell(struct zrun *run)
{
	if (!is_due(run))
		return;
	run->unfinished_told = true;
	zoutput_add(&run->err, "zmpirun: warning: ", 18);
	zoutput_add(&run->err, run->job->ended, strlen(run->job->ended));
	zoutput_add(&run->err, "\n", 1);
}
