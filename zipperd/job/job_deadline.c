/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits of jobs, see job_deadline.h. */
#include "zipperd/job/job_deadline.h"

#include "zipperd/job/job_end.h"
#include "zipperd/job/job_ends.h"
#include "zipperd/job/job_join.h"
#include "zipperd/job/job_return.h"

static void expire(struct job *j)
{
	int64_t now = j->daemon->now_ms;
	if (j->suspect && j->suspect_ms <= now) {
		rank_lost(j->suspect, j->suspect_how);
	} else if (j->deadline_ms && j->deadline_ms <= now && j->state == JOB_FORMING) {
		char missing[ZCTL_TEXT_MAX + 1];
		job_join_missing(j, missing, sizeof(missing));
		job_end_for(j, 1, "not all ranks have %s within %g s: %s", job_return_is(j) ? "come back" : "joined",
			(double)j->timeout_ms / 1000, missing);
	} else if (j->deadline_ms && j->deadline_ms <= now) {
		job_forget(j);
	} else if (j->vain_ms) {
		job_ends_check(j, now);
	}
}

void job_deadline_check_all(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->all_jobs) /* a job can only free itself */
		expire(list_entry(node, struct job, link));
}

bool job_deadline_any(const struct daemon *d)
{
	for (const struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next) {
		const struct job *j = list_entry(node, struct job, link);
		if (j->deadline_ms || j->suspect || j->vain_ms)
			return true;
	}
	return false;
}
