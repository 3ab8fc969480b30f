/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the value of LD_PRELOAD. The user's libraries come in front of ours: a tool between program and MPI (MPI-4.0,
 * section 15.2) sees the program's calls, and its own calls come to us. The runtimes of sanitizers, if there are any,
 * are in front of all. */
#include "launch/start/preload.h"

#include <stdlib.h>

const char *zpreload_choose(const struct zpreload *l, const struct zplan_part *part, const struct zsection *section)
{
	const bool unknown = !section || (section->mpi == ZMPI_UNKNOWN && !section->standard);

	if (unknown ? part->standard : section->standard)
		return l->standard;
	return part->mpi == ZMPI_OPEN ? l->open_mpi : l->mpich;
}

void zpreload_add(struct zargv *argv, const char *before, const struct zoptions *o, const char *libzipper,
	const char *runtimes)
{
	const char *theirs = o->preload ? o->preload : getenv("LD_PRELOAD");
	if (theirs && *theirs == '\0')
		theirs = NULL;
	zargv_addf(argv, "%s%s%s%s%s%s", before, runtimes ? runtimes : "", runtimes ? ":" : "", theirs ? theirs : "",
		libzipper && theirs ? ":" : "", libzipper ? libzipper : "");
}
