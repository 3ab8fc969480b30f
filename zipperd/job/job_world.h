/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged world of a job. Control thread. */
#ifndef ZIPPERD_JOB_WORLD_H
#define ZIPPERD_JOB_WORLD_H

#include "zipperd/job/job.h"

/* All ranks have joined: numbers them and sends WORLD. The job runs, or ends where that cannot be. */
void job_world_start(struct job *);
/* The window of each of so many stations in bytes (rdv_window). left: the memory that no other window has; below 0:
 * others have more than there is. */
uint32_t job_world_window(const struct settings *, int64_t left, uint64_t stations);

#endif
