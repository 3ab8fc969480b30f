/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that come back, see job_return.h. */
#include "zipperd/job/job_return.h"

/* mpiexec ends all ranks of a part where one dies. So a part lives while one of its ranks is here, and zmpirun knows
 * when any part ends. Nobody tells of a rank that has left in MPI_Finalize, but no rank leaves before all are in there.
 */
static bool others_live(const struct job *j)
{
	if (j->njoined > 0 && j->doing[ZCTL_STATE_FINALIZES] == j->njoined)
		return false;
	if (j->launcher)
		return true;
	if (j->mixed)
		return j->njoined > 0;
	for (uint32_t i = 0; i < j->nparts; i++)
		if (j->part[i].joined == 0)
			return false;
	return true;
}

void job_return_wait(struct job *j)
{
	if (j->state != JOB_FORMING || !job_return_is(j))
		return;
	j->timeout_ms = j->daemon->settings.return_timeout_ms;
	j->deadline_ms = others_live(j) ? 0 : j->daemon->now_ms + j->timeout_ms;
}
