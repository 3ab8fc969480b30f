/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of jobs. Control thread. */
#ifndef ZIPPERD_JOB_END_H
#define ZIPPERD_JOB_END_H

#include "zipperd/job/job.h"

#define JOB_END_LAST_WORDS_MS 5000 /* the time for a rank to end itself after DEAD */

/* Ends the job for all: ranks get DEAD (ERROR while the job forms for the first time), the launcher an event. code:
 * exit code. */
void job_end(struct job *, uint32_t code, const char *text);
void job_end_for(struct job *, uint32_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same where only this zipper is lost to the job: its ranks may go on, or come back. */
void job_end_here(struct job *, const char *text);
/* A rank that comes now cannot be in the job, for this reason. If it comes back to it, the job is over for that rank; a
 * rank that begins is refused. */
void job_end_tell(const struct job *, struct conn *, uint32_t code, const char *text);
/* All ranks have said BYE. */
void job_end_well(struct job *);
/* zipperd stops. */
void job_end_all(struct daemon *, const char *text);

#endif
