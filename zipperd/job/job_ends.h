/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks whose process ends without MPI_Finalize (STATE in common/control/ctl.h). Such a rank stays until all ranks are
 * at their end, so that no other rank waits for it in vain. The job ends with an error instead if one rank waits in MPI
 * and no rank computes: nothing can end that wait. Control thread.
 */
#ifndef ZIPPERD_JOB_ENDS_H
#define ZIPPERD_JOB_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct rank;
struct zctl_state;

/* A rank says what it does. False: a rank does not say that, or not at this time. */
bool job_ends_take(struct rank *, const struct zctl_state *);
/* Has the job waited in vain until now? Then it ends. */
void job_ends_check(struct job *, int64_t now_ms);

#endif
