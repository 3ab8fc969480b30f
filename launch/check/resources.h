/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what a host gives a rank: limits, RDMA ports, the clock. One thread. */
#ifndef ZIP_LAUNCH_RESOURCES_H
#define ZIP_LAUNCH_RESOURCES_H

#include <stdint.h>

#include "common/doctor/report.h"
#include "launch/check/facts.h"
#include "launch/start/railset.h"

struct zresources {
	const struct zplan *plan;
	const struct zrailset *rails;
	int part;		  /* of the host */
	int64_t begin_ms, end_ms; /* of the visit, by our clock: milliseconds since 1970 */
	/* Takes a fault: the line's text, and what to do. */
	void (*say)(void *ctx, enum zreport_level, const char *advice, const char *text);
	void *ctx;
};

void zresources_judge(const struct zresources *, const struct zfacts *);

#endif
