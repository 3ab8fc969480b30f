/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which zipper's word is the cause of a job's end, where several zippers say that it is over. The decision is
 * noted in the job: fields dead, lost, rail, dead_code and text.
 */
#ifndef ZIP_LAUNCH_CAUSE_H
#define ZIP_LAUNCH_CAUSE_H

#include "launch/start/job.h"

/*
 * Does this zipper say that a rank died or aborted? A real death is told by all zippers, one after the other, and ends
 * the job. A zipper that says so alone has only lost its connection to a rank that lives.
 */
bool zcause_is_death(const struct zjob_rail *);
/* Does it say that a rank ended by itself, as that rank has told? Then ranks killed by SIGKILL are mpiexec's work. */
bool zcause_is_exit(const struct zjob_rail *);
/* The job is over: notes the cause. At least one zipper must be dead or lost, and not yet told to the user. */
void zcause_decide(struct zjob *);
/* The ranks are gone, though some zipper has not said so. If another zipper says that a rank died, notes that as the
 * cause and returns true. Returns false otherwise, and changes nothing. */
bool zcause_believe_death(struct zjob *);

#endif
