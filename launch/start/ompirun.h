/* SPDX-License-Identifier: BSD-3-Clause */
/* The mpirun of Open MPI that starts a part, in place of mpiexec. */
#ifndef ZIP_LAUNCH_OMPIRUN_H
#define ZIP_LAUNCH_OMPIRUN_H

#include "launch/start/part.h"

/* Makes the command line of the part's mpirun, and its hostfile or folder in scratch. envp: the environment in which it
 * will run. 0, or a negative errno with text. */
int zompirun_build(struct zargv *, const struct zargv *envp, const struct zplan_part *, const struct zpart_params *,
	struct zerr *);

#endif
