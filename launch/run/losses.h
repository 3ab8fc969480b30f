/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the user of zippers that are lost while the job goes on: one line each, held back until it is clear that it
 * does, as a rank that dies is told by one zipper after the other. */
#ifndef ZIP_LAUNCH_LOSSES_H
#define ZIP_LAUNCH_LOSSES_H

#include "launch/start/job.h"
#include "launch/io/output.h"

/* Why that one is lost to a job that goes on: a rank that it alone takes for dead has only lost its connection. Returns
 * buf. */
const char *zlosses_format(const struct zjob_rail *, char buf[ZCTL_TEXT_MAX + 1]);
/* Milliseconds until zlosses_tell has something to say, or -1. */
int zlosses_timeout(const struct zjob *, int64_t now_ms);
/* Tells of those whose time has come. */
void zlosses_tell(struct zjob *, struct zoutput *, int64_t now_ms);
/* The job has ended well: tells of all that were not told of. */
void zlosses_tell_all(struct zjob *, struct zoutput *);
/* A rank's death has ended the job: tells of zippers that were lost just before, and not because of it. */
void zlosses_tell_others(struct zjob *, struct zoutput *);

#endif
