/* SPDX-License-Identifier: BSD-3-Clause */
/* Which zipper serves the job, where each part finds its zipperd, and whether we have to start it. */
#ifndef ZIP_LAUNCH_ROUTE_H
#define ZIP_LAUNCH_ROUTE_H

#include <stdbool.h>

#include "plan.h"

struct zroute {
	struct zaddr addr[ZCTL_PARTS_MAX]; /* zipperd as the ranks of plan.parts[i] see it */
	bool start;	  /* nobody runs one there: ours. Then TCP ports are 0 and shm paths empty until it is ready */
	const char *host; /* of the zipper, for messages */
};

/*
 * hosts NULL: one zipperd of ours on this machine, over shared memory. Else the first zipper of the file that serves
 * all parts. Where none of its addresses has a port (or path), it is ours to start, and must be this machine; where
 * one has, it must be running. 0 or a negative errno with "path:line: reason".
 */
int zroute_find(struct zroute *, const struct zplan *, const struct zhostfile *hosts, struct zerr *);

#endif
