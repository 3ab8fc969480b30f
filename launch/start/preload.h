/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of LD_PRELOAD for the ranks. */
#ifndef ZIP_LAUNCH_PRELOAD_H
#define ZIP_LAUNCH_PRELOAD_H

#include "launch/base/argv.h"
#include "launch/plan/options.h"
#include "launch/plan/plan.h"

/* The paths of the libzippers, not owned; NULL: nothing is preloaded. */
struct zpreload {
	const char *mpich, *open_mpi, *standard;
};

/* The libzipper of a section's ranks in this part. NULL as section: of programs whose MPI is unknown. NULL: nothing is
 * preloaded. */
const char *zpreload_choose(const struct zpreload *, const struct zplan_part *, const struct zsection *);

/* Adds one word: `before`, and the value behind it. libzipper: NULL, if it is not preloaded. runtimes: of sanitizers,
 * or NULL. */
void zpreload_add(struct zargv *, const char *before, const struct zoptions *, const char *libzipper,
	const char *runtimes);

#endif
