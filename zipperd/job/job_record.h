/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as records of the answer to STATUS (ctl.h). Control thread. */
#ifndef ZIPPERD_JOB_RECORD_H
#define ZIPPERD_JOB_RECORD_H

#include "zipperd/job/job.h"

/* All but nlanes. */
void job_record_fill(const struct job *, struct zctl_job_status *);
/* part: [nparts] */
void job_record_fill_parts(const struct job *, struct zctl_part_status *part);
/* Fills lane[max] with the job's directions from *at on, an index in job.lane, as far as there is traffic to tell of.
 * Returns how many these are; *at: the place to go on at, 0: there is no more. */
uint32_t job_record_fill_lanes(const struct job *, uint32_t *at, struct zctl_lane_status *lane, uint32_t max);

#endif
