/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that the ranks of a job have published (MPI_Publish_name). Every zipper of a job has all of them, so that a
 * zipper that is left knows them, too (libzip/world/naming.h). They end with the job. Control thread.
 */
#ifndef ZIPPERD_JOB_NAMES_H
#define ZIPPERD_JOB_NAMES_H

#include "zipperd/job/job.h"

/* Answers a rank's question. False: a rank does not say that, or not at this time. */
bool job_names_request(struct rank *, const struct zctl_naming *);
void job_names_free(struct job *);

#endif
