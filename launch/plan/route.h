/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers that could carry the job: where each part finds their zipperd, and whether zmpirun has to start it. */
#ifndef ZIP_LAUNCH_ROUTE_H
#define ZIP_LAUNCH_ROUTE_H

#include <stdbool.h>

#include "common/hosts/hostways.h"
#include "launch/plan/plan.h"

#define ZROUTE_NAME_MAX 96

struct zroute_port {
	const char *fabric;
	struct zaddr addr; /* zipperd's address as hosts on that fabric see it */
};

struct zroute { /* one zipper */
	/* port[i] is for plan.parts[i]. Where ranks reach zipperds over hops, all ports of use, in the order of the
	 * zipper's line */
	struct zroute_port port[ZCTL_PARTS_MAX];
	int nports;
	uint64_t next; /* bit i: some ways reach their next zipperd over port[i] */
	int zipper;    /* index into the hostfile's zippers; -1: not from a hostfile */
	bool start; /* zmpirun has to start the zipperd. TCP ports are then 0 and shm paths empty until it is ready */
	char name[ZROUTE_NAME_MAX + 1]; /* for messages: the host, with the line where the host has two lines */
	int rc; /* negative errno: the zipper cannot be used, for the reason in why; 0: perhaps it can */
	struct zerr why;
};

/*
 * Finds the routes of a job. Returns their number, *routes being the caller's to free; or a negative errno.
 *
 * hosts NULL: that many zipperds (rails; 0 means 1) are started on this machine, over shared memory. Otherwise all
 * zippers of the file that join the clusters of all parts, in its order. Where there are none, the zippers of ways;
 * *ways is then the caller's to free. In all other cases ways->hops is false and *ways is empty.
 *
 * A zipper whose addresses have no port (or path) is ours to start, and must be this machine. A zipper with a port in
 * one of its addresses must be running. Fewer zippers than rails are an error, because a user who asks for three and
 * gets two would not notice. Where all zippers of the ways are needed, a number of rails is an error, too.
 */
int zroute_find(struct zroute **routes, struct zhostways *ways, const struct zplan *, const struct zhostfile *hosts,
	int rails, struct zerr *);
/* Fills ways as above, without the zippers of the n routes that cannot be used. */
int zroute_find_ways(struct zhostways *ways, const struct zroute *routes, int n, const struct zplan *,
	const struct zhostfile *hosts, struct zerr *);
/* The zipper's address on a fabric that it is attached to. */
const struct zaddr *zroute_find_address(const struct zroute *, const char *fabric);

#endif
