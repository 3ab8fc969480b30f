/* SPDX-License-Identifier: BSD-3-Clause */
/* Which zippers could carry the job, where each part finds their zipperd, and whether we have to start it. */
#ifndef ZIP_LAUNCH_ROUTE_H
#define ZIP_LAUNCH_ROUTE_H

#include <stdbool.h>

#include "plan.h"

#define ZROUTE_NAME_MAX 96

struct zroute {				   /* one zipper */
	struct zaddr addr[ZCTL_PARTS_MAX]; /* zipperd as the ranks of plan.parts[i] see it */
	bool start; /* nobody runs one there: ours. Then TCP ports are 0 and shm paths empty until it is ready */
	char name[ZROUTE_NAME_MAX + 1]; /* for messages: its host, and its line where that has two */
	int rc;				/* negative errno: it cannot be used, and why; 0: perhaps it can */
	struct zerr why;
};

/*
 * hosts NULL: so many zipperds (rails, 0: 1) of ours on this machine, over shared memory. Else all zippers of the file
 * that join the clusters of all parts, in its order. Where none of the addresses of one has a port (or path), it is
 * ours to start, and must be this machine; where one has, it must be running. Fewer than rails are an error: who asks
 * for three and gets two would not notice. Returns how many, *routes being owned by the caller; or a negative errno.
 */
int zroute_find(struct zroute **routes, const struct zplan *, const struct zhostfile *hosts, int rails, struct zerr *);

#endif
