/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up the hosts of a job before anything starts, because mpiexec waits without end for a host that does not exist.
 */
#ifndef ZIP_LAUNCH_RESOLVE_H
#define ZIP_LAUNCH_RESOLVE_H

#include "launch/plan/options.h"
#include "launch/plan/plan.h"

/* A host of a cluster must have an address. Clusters for which a launcher was named (also launcher=ssh,
 * for names that only ~/.ssh/config knows) are left out, because the launcher knows what its names mean. 0, or -ENOENT
 * with "path:line: ...". */
int zresolve_host(const struct zcluster *, const struct zplan_host *, const struct zoptions *, const char *path,
	struct zerr *);
/* The same for every host of the plan's clusters. */
int zresolve_hosts(const struct zplan *, const struct zoptions *, const char *path, struct zerr *);

#endif
