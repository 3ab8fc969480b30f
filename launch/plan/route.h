/* SPDX-License-Identifier: BSD-3-Clause */
/* Which zippers could carry the job, where each part finds their zipperd, and whether we have to start it. */
#ifndef ZIP_LAUNCH_ROUTE_H
#define ZIP_LAUNCH_ROUTE_H

#include <stdbool.h>

#include "common/hosts/hostways.h"
#include "launch/plan/plan.h"

#define ZROUTE_NAME_MAX 96

struct zroute_port {
	const char *fabric;
	struct zaddr addr; /* zipperd as who is on that fabric sees it */
};

struct zroute { /* one zipper */
	/* Those of plan.parts[i]; where hops are needed all that are of use, in the order of its line. */
	struct zroute_port port[ZCTL_PARTS_MAX];
	int nports;
	uint64_t next; /* bit i: the next zipperds of some ways are reached over port[i] */
	int zipper;    /* index of the hostfile's; -1: it has none */
	bool start;    /* nobody runs one there: ours. Then TCP ports are 0 and shm paths empty until it is ready */
	char name[ZROUTE_NAME_MAX + 1]; /* for messages: its host, and its line where that has two */
	int rc;				/* negative errno: it cannot be used, and why; 0: perhaps it can */
	struct zerr why;
};

/*
 * hosts NULL: so many zipperds (rails, 0: 1) of ours on this machine, over shared memory. Else all zippers of the file
 * that join the clusters of all parts, in its order; where there are none, those of ways, which then are the caller's
 * to free (without, ways->hops is false and there is nothing in them). Where none of the addresses of one has a port
 * (or path), it is ours to start, and must be this machine; where one has, it must be running. Fewer than rails are an
 * error: who asks for three and gets two would not notice; and so is rails where it is not ours to say. Returns how
 * many, *routes being owned by the caller; or a negative errno.
 */
int zroute_find(struct zroute **routes, struct zhostways *ways, const struct zplan *, const struct zhostfile *hosts,
	int rails, struct zerr *);
/* Fills ways, as above, without the zippers of those of n routes that cannot be used. */
int zroute_find_ways(struct zhostways *ways, const struct zroute *routes, int n, const struct zplan *,
	const struct zhostfile *hosts, struct zerr *);
/* Its address on that fabric, on which it is. */
const struct zaddr *zroute_find_address(const struct zroute *, const char *fabric);

#endif
