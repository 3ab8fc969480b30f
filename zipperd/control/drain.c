/* SPDX-License-Identifier: BSD-3-Clause */
/* No new jobs, see drain.h. */
#include "zipperd/control/drain.h"

#include <stdio.h>

#include "common/base/log.h"
#include "zipperd/control/notify.h"
#include "zipperd/job/job.h"

int drain_left(const struct daemon *d)
{
	int n = 0;
	for (const struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next)
		n += list_entry(node, struct job, link)->state != JOB_OVER;
	return n;
}

static void tell(struct daemon *d)
{
	char text[64];
	const int left = drain_left(d);
	if (left == d->told_left)
		return;
	d->told_left = left;
	if (left > 0)
		snprintf(text, sizeof(text), "STATUS=draining: %d job%s left", left, left == 1 ? "" : "s");
	else
		snprintf(text, sizeof(text), "STATUS=drained: no job is left");
	notify_state(text);
	if (left == 0)
		zlog(ZLOG_INFO, "drained: no job is left");
}

void drain_begin(struct daemon *d)
{
	d->draining_jobs = true;
	d->told_left = -1;
	tell(d);
}

void drain_end(struct daemon *d)
{
	d->draining_jobs = false;
	notify_state("STATUS=");
}

void drain_turn(struct daemon *d)
{
	if (d->draining_jobs)
		tell(d);
}
