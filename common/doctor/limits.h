/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a process that matter for its connections: ulimit -n and -l. Any thread. */
#ifndef ZIP_COMMON_DOCTOR_LIMITS_H
#define ZIP_COMMON_DOCTOR_LIMITS_H

#include <stdint.h>

#include "common/base/err.h"

#define ZLIMITS_NONE UINT64_MAX /* unlimited */

struct zlimits {
	uint64_t files, files_hard;   /* descriptors */
	uint64_t locked, locked_hard; /* bytes of memory that may be locked */
};

void zlimits_own(struct zlimits *);
/* Writes a limit as "1024", "65536 KiB" (bytes) or "unlimited". Returns buf. */
const char *zlimits_format(char buf[32], uint64_t limit, int is_bytes);

#endif
