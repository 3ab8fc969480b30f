/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that have ended, with their last counters, for a time (ended_time) and in bounded memory. Control thread. */
#ifndef ZIPPERD_JOB_PAST_H
#define ZIPPERD_JOB_PAST_H

#include "zipperd/job/job.h"

struct past_job {
	struct list link;
	uint32_t serial; /* rises from job to job, from 1 on */
	int64_t over_ms;
	size_t bytes; /* that it takes */
	struct zctl_job_status job;
	struct zctl_part_status *part; /* [job.nparts] */
	struct zctl_lane_status *lane; /* [job.nlanes] */
};

/* Keeps the records of a job that is about to be freed; the oldest go for it. It is not kept where there is no memory.
 */
void job_past_keep(const struct job *);
/* The first kept job with a higher serial, and its time since the end filled in. NULL: there is none. */
const struct past_job *job_past_next(struct daemon *, uint32_t serial);
void job_past_free(struct daemon *);

#endif
