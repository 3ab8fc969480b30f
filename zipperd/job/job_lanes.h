/* SPDX-License-Identifier: BSD-3-Clause */
/* The lanes of a job, made with the first channel between two parts on a track, and the relays between them. Control
 * thread. */
#ifndef ZIPPERD_JOB_LANES_H
#define ZIPPERD_JOB_LANES_H

#include "zipperd/job/job.h"

/* Makes both lanes of a track between two parts, if they are not there. 0 or a negative errno with text. */
int job_lanes_ensure(struct job *, uint32_t track, uint32_t a, uint32_t b, struct zerr *);
/* A source of the lane has a message for that part as well: makes the relays between both workers, now or as soon as
 * there is a lane to that part on this track. false: out of memory. */
bool job_lanes_want(struct job *, struct lane *, uint32_t part);

#endif
