/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the user of zippers that are lost while the job goes on, with one line each. A line is held back until it is
 * clear that the job goes on, because a rank's death is told by one zipper after the other. */
#ifndef ZIP_LAUNCH_LOSSES_H
#define ZIP_LAUNCH_LOSSES_H

#include "launch/start/job.h"
#include "launch/io/output.h"

/* Writes why a zipper is lost, for a job that goes on: a rank that this zipper alone takes for dead has only lost its
 * connection. Returns buf. */
const char *zlosses_format(const struct zjob_rail *, char buf[ZCTL_TEXT_MAX + 1]);
/* Milliseconds until zlosses_tell has something to say, or -1. */
int zlosses_timeout(const struct zjob *, int64_t now_ms);
/* Tells of the zippers whose time has come. */
void zlosses_tell(struct zjob *, struct zoutput *, int64_t now_ms);
/* The job has ended well: tells of all zippers that were not told yet. */
void zlosses_tell_all(struct zjob *, struct zoutput *);
/* A rank's death has ended the job: tells of the zippers that were lost just before, for another reason. */
void zlosses_tell_others(struct zjob *, struct zoutput *);

#endif
