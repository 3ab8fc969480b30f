/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged world of a job. Control thread. */
#ifndef ZIPPERD_JOB_WORLD_H
#define ZIPPERD_JOB_WORLD_H

#include "zipperd/job/job.h"

/* All ranks have joined: numbers them and sends WORLD. The job runs, or ends where that cannot be. */
void job_world_start(struct job *);

#endif
