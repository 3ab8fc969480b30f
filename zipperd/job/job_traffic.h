/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of a job's directions, summed over its tracks: for STATUS, STATS and the log. Control thread. */
#ifndef ZIPPERD_JOB_TRAFFIC_H
#define ZIPPERD_JOB_TRAFFIC_H

#include "zipperd/job/job.h"

/* Adds a lane's traffic, also a circuit's. */
void job_traffic_add(struct zctl_lane_status *, const struct lane *);
/* The traffic of all lanes from part to part, and of direct links. False: there has been none. */
bool job_traffic_sum(const struct job *, uint32_t from, uint32_t to, struct zctl_lane_status *);

#endif
