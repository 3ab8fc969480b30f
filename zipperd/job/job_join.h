/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining a job: all ranks must agree on its parts, sizes and settings. Control thread. */
#ifndef ZIPPERD_JOB_JOIN_H
#define ZIPPERD_JOB_JOIN_H

#include "zipperd/conn/conn.h"
#include "zipperd/job/job.h"

/* JOIN of a rank: it is taken in or refused. Starts the job with its last rank. */
void job_join(struct daemon *, struct conn *, const struct zctl_join *);
/* Names the ranks that have not joined in buf, cut to cap bytes. */
void job_join_missing(const struct job *, char *buf, size_t cap);

#endif
