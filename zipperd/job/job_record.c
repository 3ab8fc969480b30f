/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs as records, see job_record.h. */
#include "zipperd/job/job_record.h"

#include <stdio.h>
#include <string.h>

#include "zipperd/job/job_traffic.h"

/* As far as anybody has told. */
static uint32_t size_of(const struct job *j, uint32_t part)
{
	return j->part[part].size ? j->part[part].size : j->expected[part];
}

static uint32_t total_of(const struct job *j)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < j->nparts; i++) {
		if (size_of(j, i) == 0)
			return j->total;
		total += size_of(j, i);
	}
	return j->total ? j->total : total;
}

void job_record_fill(const struct job *j, struct zctl_job_status *out)
{
	const int64_t now = j->daemon->now_ms, end = j->over_ms ? j->over_ms : now;
	*out = (struct zctl_job_status){.number = j->number,
		.phase = j->state == JOB_FORMING   ? ZCTL_JOB_FORMS
			 : j->state == JOB_RUNNING ? ZCTL_JOB_RUNS
						   : ZCTL_JOB_ENDS,
		.age_ms = (uint64_t)(end - j->started_ms),
		.ended_ms = (uint64_t)(now - end),
		.total = total_of(j),
		.joined = j->njoined,
		.done = j->ndone,
		.endpoints = j->endpoints,
		.rail = j->rail,
		.nrails = j->nrails,
		.incarnation = j->incarnation,
		.channels = j->nchannels,
		.nparts = j->nparts};
	snprintf(out->user, sizeof(out->user), "%.*s", (int)(j->id - j->key) - 1, j->key);
	snprintf(out->id, sizeof(out->id), "%s", j->id);
	snprintf(out->text, sizeof(out->text), "%s", j->text);
}

void job_record_fill_parts(const struct job *j, struct zctl_part_status *part)
{
	for (uint32_t i = 0; i < j->nparts; i++) {
		memset(&part[i], 0, sizeof(part[i]));
		memcpy(part[i].name, j->part[i].name, sizeof(part[i].name));
		memcpy(part[i].fabric, j->daemon->settings.fabric[j->part[i].fabric], sizeof(part[i].fabric));
		part[i].size = size_of(j, i);
		part[i].joined = j->part[i].joined;
	}
}

uint32_t job_record_fill_lanes(const struct job *j, uint32_t *at, struct zctl_lane_status *lane, uint32_t max)
{
	const uint32_t all = j->nparts * j->nparts;
	uint32_t n = 0, i = *at;
	for (; i < all; i++) {
		struct zctl_lane_status sum;
		if (!job_traffic_sum(j, i / j->nparts, i % j->nparts, &sum))
			continue;
		if (n == max)
			break;
		lane[n++] = sum;
	}
	*at = i < all ? i : 0;
	return n;
}
