/* SPDX-License-Identifier: BSD-3-Clause */
/* The srun that starts a part in a Slurm allocation, in place of mpiexec. */
#ifndef ZIP_LAUNCH_SRUN_H
#define ZIP_LAUNCH_SRUN_H

#include "launch/start/part.h"

/* Makes the command line of the part's srun, and the list of its ranks' hosts in the private directory. 0, or a
 * negative errno with text. */
int zsrun_build(struct zargv *, const struct zplan_part *, const struct zpart_params *, struct zerr *);
/* Completes the environment of that srun: names the list, and takes out what the batch job has set for other steps. */
void zsrun_build_environ(struct zargv *, const struct zplan_part *, const struct zscratch *);

#endif
