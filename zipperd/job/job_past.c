/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that have ended, see job_past.h. */
#include "zipperd/job/job_past.h"

#include <stdlib.h>

#include "zipperd/job/job_record.h"
#include "zipperd/job/job_traffic.h"

#define PAST_BYTES (4u << 20) /* of all of them */

struct past {
	struct list jobs; /* oldest first */
	size_t bytes;
	uint32_t serial;
};

static void drop(struct past *p, struct past_job *j)
{
	list_del(&j->link);
	p->bytes -= j->bytes;
	free(j->part);
	free(j->lane);
	free(j);
}

static struct past_job *oldest(const struct past *p)
{
	return list_entry(p->jobs.next, struct past_job, link);
}

static void expire(struct daemon *d)
{
	struct past *p = d->past;
	const int64_t first_ms = d->now_ms - d->settings.ended_time_ms;
	while (!list_empty(&p->jobs) && (p->bytes > PAST_BYTES || oldest(p)->over_ms <= first_ms))
		drop(p, oldest(p));
}

static bool fill(struct past_job *out, const struct job *j)
{
	uint32_t at = 0, lanes = 0;
	struct zctl_lane_status sum;
	for (uint32_t i = 0; i < j->nparts * j->nparts; i++)
		lanes += job_traffic_sum(j, i / j->nparts, i % j->nparts, &sum);
	out->part = calloc(j->nparts, sizeof(*out->part));
	out->lane = calloc(lanes + 1, sizeof(*out->lane));
	if (!out->part || !out->lane)
		return false;
	job_record_fill(j, &out->job);
	job_record_fill_parts(j, out->part);
	out->job.phase = ZCTL_JOB_ENDED;
	out->job.nlanes = job_record_fill_lanes(j, &at, out->lane, lanes);
	out->over_ms = j->over_ms;
	out->bytes = sizeof(*out) + j->nparts * sizeof(*out->part) + (lanes + 1) * sizeof(*out->lane);
	return true;
}

static struct past *find_or_create(struct daemon *d)
{
	if (d->past || !(d->past = calloc(1, sizeof(*d->past))))
		return d->past;
	list_init(&d->past->jobs);
	return d->past;
}

void job_past_keep(const struct job *j)
{
	struct daemon *d = j->daemon;
	if (j->over_ms == 0 || d->settings.ended_time_ms == 0 || !find_or_create(d))
		return;
	struct past_job *kept = calloc(1, sizeof(*kept));
	if (!kept)
		return;
	if (!fill(kept, j)) {
		free(kept->part);
		free(kept->lane);
		free(kept);
		return;
	}
	kept->serial = ++d->past->serial;
	d->past->bytes += kept->bytes;
	list_add(&d->past->jobs, &kept->link);
	expire(d);
}

const struct past_job *job_past_next(struct daemon *d, uint32_t serial)
{
	if (!d->past)
		return NULL;
	expire(d);
	for (struct list *node = d->past->jobs.next; node != &d->past->jobs; node = node->next) {
		struct past_job *j = list_entry(node, struct past_job, link);
		if (j->serial <= serial)
			continue;
		j->job.ended_ms = (uint64_t)(d->now_ms - j->over_ms);
		return j;
	}
	return NULL;
}

void job_past_free(struct daemon *d)
{
	if (!d->past)
		return;
	while (!list_empty(&d->past->jobs))
		drop(d->past, oldest(d->past));
	free(d->past);
	d->past = NULL;
}
