/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a zipperd, see snapshot.h. */
#include "zipstat/snapshot.h"

#include <string.h>

void snapshot_free(struct snapshot *s)
{
	zctl_status_free(&s->now);
	zctl_status_free(&s->before);
	memset(s, 0, sizeof(*s));
}

int snapshot_take(struct snapshot *s, struct zsession *session, struct zerr *err)
{
	struct zctl_status_reply fresh;
	int rc = zsession_status(session, &fresh, err);
	if (rc < 0) {
		snapshot_free(s);
		return rc;
	}
	zctl_status_free(&s->before);
	s->before = s->now;
	s->now = fresh;
	if (s->now.uptime_ms <= s->before.uptime_ms) /* it was started again */
		zctl_status_free(&s->before);
	if (s->before.release[0] && s->now.uptime_ms > s->before.uptime_ms)
		s->seconds = (double)(s->now.uptime_ms - s->before.uptime_ms) / 1000;
	else
		s->seconds = 0;
	return 0;
}

bool snapshot_is_over(const struct zctl_job_status *j)
{
	return j->phase == ZCTL_JOB_ENDED;
}

/* Jobs that are present come in the order of their numbers. */
static void find_before(const struct snapshot *s, struct snapshot_job *j)
{
	const struct zctl_job_status *b = j->job_before ? j->job_before : s->before.job;
	const struct zctl_job_status *end = s->before.job + s->before.njobs;
	const struct zctl_lane_status *lane = j->job_before ? j->lanes_before : s->before.lane;
	for (; b && b < end && !snapshot_is_over(b) && b->number < j->job->number; b++)
		lane += b->nlanes;
	j->job_before = b && b < end ? b : NULL;
	j->lanes_before = lane;
}

bool snapshot_next(const struct snapshot *s, struct snapshot_job *j)
{
	if (!j->job) {
		j->job = s->now.job;
		j->part = s->now.part;
		j->lane = s->now.lane;
	} else {
		j->part += j->job->nparts;
		j->lane += j->job->nlanes;
		j->job++;
	}
	if (!j->job || j->job == s->now.job + s->now.njobs)
		return false;
	if (!snapshot_is_over(j->job))
		find_before(s, j);
	return true;
}

struct snapshot_rates snapshot_rates(const struct snapshot *s, const struct snapshot_job *j, uint32_t lane)
{
	const struct zctl_lane_status *now = &j->lane[lane];
	struct snapshot_rates r = {0, 0};
	if (s->seconds == 0 || snapshot_is_over(j->job) || !j->job_before || j->job_before->number != j->job->number)
		return r;
	for (uint32_t i = 0; i < j->job_before->nlanes; i++) {
		const struct zctl_lane_status *b = &j->lanes_before[i];
		if (b->from != now->from || b->to != now->to)
			continue;
		r.msgs = (double)(now->msgs + now->direct_msgs - b->msgs - b->direct_msgs) / s->seconds;
		r.bytes = (double)(now->bytes + now->direct_bytes - b->bytes - b->direct_bytes) / s->seconds;
	}
	return r;
}

double snapshot_load(const struct snapshot *s, uint32_t i)
{
	const struct zctl_worker_status *w = &s->now.worker[i];
	for (uint32_t k = 0; k < s->before.nworkers && s->seconds > 0; k++) {
		const struct zctl_worker_status *b = &s->before.worker[k];
		if (strcmp(b->from, w->from) == 0 && strcmp(b->to, w->to) == 0 && b->number == w->number)
			return (double)(w->cpu_ns - b->cpu_ns) / 1e9 / s->seconds;
	}
	return s->now.uptime_ms > 0 ? (double)w->cpu_ns / 1e6 / (double)s->now.uptime_ms : 0;
}

const char *snapshot_phase(const struct zctl_job_status *j)
{
	switch (j->phase) {
	case ZCTL_JOB_FORMS:
		return "forms";
	case ZCTL_JOB_RUNS:
		return "runs";
	case ZCTL_JOB_ENDS:
		return "ends";
	default:
		return "ended";
	}
}

const char *snapshot_state(const struct zctl_job_status *j)
{
	return j->phase == ZCTL_JOB_ENDED && j->text[0] ? "failed" : snapshot_phase(j);
}
