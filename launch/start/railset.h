/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers that carry the job, each of them a rail: which of those that could are used, started where they are ours,
 * and with the job registered. */
#ifndef ZIP_LAUNCH_RAILSET_H
#define ZIP_LAUNCH_RAILSET_H

#include "launch/start/daemon.h"
#include "launch/start/job.h"
#include "launch/plan/route.h"

#define ZRAILSET_TEXT_BYTES (ZCTL_RAILS_MAX * ZHOPS_TEXT_BYTES) /* for the ways to all */
#define ZRAILSET_ENTRIES_BYTES (ZCTL_RAILS_MAX * ZCTL_ENTRIES_MAX)

struct zrailset {
	struct zroute *routes; /* to those that join the clusters, in the order of the file; owned */
	struct zhostways ways; /* hops: to all of used, in this order */
	const struct zhostfile *hosts;
	int nroutes;
	int max; /* so many of them at most are used: the first that can be */
	struct zroute *used[ZCTL_RAILS_MAX];
	int n;
	struct zdaemon daemons[ZCTL_RAILS_MAX]; /* of used[i], where it is ours to start; else pid is 0 */
};

/* Finds the routes; none that can be used is an error. wanted: what --rails says, or 0. hosts is used as long as the
 * rails. 0 or a negative errno with text. Free with zrailset_free in any case. */
int zrailset_find(struct zrailset *, const struct zplan *, const struct zhostfile *hosts, int wanted, struct zerr *);
void zrailset_free(struct zrailset *);
/* Name of the first one that may be used and is not ours to start: it knows the user's key, and the others must take
 * it. NULL: all are ours. */
const char *zrailset_find_running(const struct zrailset *);
/*
 * Starts and registers one after the other. A zipper that cannot be used, or whose zipperd does not answer, is left
 * out, with a line on stderr that says why, as long as there is another one; a zipperd that refuses us, or one of ours
 * that does not start, is an error. Where hops are needed all that run are asked first: without one of them there may
 * be no way, and then what it lacks is the error, or other ways. 0 or a negative errno with text; what has been started
 * then is the caller's to end.
 */
int zrailset_open(struct zrailset *, struct zjob *, struct zdaemon_params *, struct zsession_params *,
	const struct zplan *, const struct zscratch *, struct zerr *);
/* Their addresses as a part sees them, or its ways to them, for ZIPPER_ZIPPERD. Returns buf. */
const char *zrailset_format(const struct zrailset *, int part, char buf[ZRAILSET_TEXT_BYTES]);
/* By which fabrics all parts come to each, for ZIPPER_ENTRIES. Returns buf, or NULL: no hops are needed. */
const char *zrailset_format_entries(const struct zrailset *, char buf[ZRAILSET_ENTRIES_BYTES]);

#endif
