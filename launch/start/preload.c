/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the value of LD_PRELOAD. The user's libraries come in front of ours: a tool between program and MPI (MPI-4.0,
 * section 15.2) sees the program's calls, and its own calls come to us. The runtimes of sanitizers, if there are any,
 * are in front of all. */
#include "launch/start/preload.h"

#include <stdlib.h>

void zpreload_add(struct zargv *argv, const char *before, const struct zoptions *o, const char *libzipper,
	const char *runtimes)
{
	const char *theirs = o->preload ? o->preload : getenv("LD_PRELOAD");
	if (theirs && *theirs == '\0')
		theirs = NULL;
	zargv_addf(argv, "%s%s%s%s%s%s", before, runtimes ? runtimes : "", runtimes ? ":" : "", theirs ? theirs : "",
		libzipper && theirs ? ":" : "", libzipper ? libzipper : "");
}
