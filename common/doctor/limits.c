/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for the limits of this process, see limits.h. */
#include "common/doctor/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

static uint64_t plain(rlim_t limit)
{
	return limit == RLIM_INFINITY ? ZLIMITS_NONE : (uint64_t)limit;
}

void zlimits_own(struct zlimits *l)
{
	struct rlimit files = {RLIM_INFINITY, RLIM_INFINITY}, locked = {RLIM_INFINITY, RLIM_INFINITY};
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	*l = (struct zlimits){.files = plain(files.rlim_cur),
		.files_hard = plain(files.rlim_max),
		.locked = plain(locked.rlim_cur),
		.locked_hard = plain(locked.rlim_max)};
}

const char *zlimits_format(char buf[32], uint64_t limit, int is_bytes)
{
	if (limit == ZLIMITS_NONE)
		snprintf(buf, 32, "unlimited");
	else if (is_bytes)
		snprintf(buf, 32, "%" PRIu64 " KiB", limit / 1024);
	else
		snprintf(buf, 32, "%" PRIu64, limit);
	return buf;
}
