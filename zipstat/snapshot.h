/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a zipperd and its jobs: its counters now and the time before, and the rates between both. */
#ifndef ZIPSTAT_SNAPSHOT_H
#define ZIPSTAT_SNAPSHOT_H

#include <stdbool.h>

#include "common/control/ctl.h"
#include "common/session/session.h"

struct snapshot {
	struct zctl_status_reply now, before;
	double seconds; /* between both; 0: there is no time before, and before is empty */
};

/* A job with its parts, its directions, and what they were before. */
struct snapshot_job {
	const struct zctl_job_status *job;
	const struct zctl_part_status *part;	     /* [job->nparts] */
	const struct zctl_lane_status *lane;	     /* [job->nlanes] */
	const struct zctl_job_status *job_before;    /* NULL: it was not there */
	const struct zctl_lane_status *lanes_before; /* [job_before->nlanes] */
};

struct snapshot_rates { /* of one direction, in a second */
	double msgs, bytes;
};

/* Asks again; what was now is before. A zeroed snapshot is an empty one. On failure both are empty. 0, or a negative
 * errno with text. */
int snapshot_take(struct snapshot *, struct zsession *, struct zerr *);
void snapshot_free(struct snapshot *);
/* Goes to the next job; at first *j is zeroed. false: there is none. */
bool snapshot_next(const struct snapshot *, struct snapshot_job *j);
/* Direct messages are included. All 0 where there is no time before. */
struct snapshot_rates snapshot_rates(const struct snapshot *, const struct snapshot_job *, uint32_t lane);
/* The part of a core that the thread of worker i has taken, between both or from its start; 1: all of it. */
double snapshot_load(const struct snapshot *, uint32_t i);
bool snapshot_is_over(const struct zctl_job_status *);
/* The phase in a word. */
const char *snapshot_phase(const struct zctl_job_status *);
/* The same, but "failed" for a job that has ended with an error. */
const char *snapshot_state(const struct zctl_job_status *);

#endif
