/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of jobs and circuits, read from the counters of lanes. Control thread. */
#ifndef ZIPPERD_JOB_STATS_H
#define ZIPPERD_JOB_STATS_H

#include "zipperd/conn/conn.h"
#include "zipperd/job/job.h"

/* Answers STATS: to a launcher with its job, to an administrator with all jobs of the user, or the job that it named.
 */
void job_stats_reply(struct conn *);
/* One line about a job that is over. */
void job_stats_log(const struct job *);

#endif
