/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the hostfile of the site, see site.h. */
#include "launch/plan/site.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/installed.h"

#define NAME "zipper.hosts"

const char *zsite_find_hostfile(void)
{
	static char path[PATH_MAX + sizeof(NAME) + 1];
	const char *said = getenv("ZMPIRUN_HOSTFILE");
	if (said)
		return *said ? said : NULL;
	zinstalled_find(path, (const void *)zsite_find_hostfile, BINDIR, CONFDIR, NAME);
	strcat(path, "/" NAME);
	return access(path, F_OK) == 0 ? path : NULL;
}
