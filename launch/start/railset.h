/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails of a job: the zippers that carry it. Chosen from the routes, started where they are ours, and with the job
 * registered at each. */
#ifndef ZIP_LAUNCH_RAILSET_H
#define ZIP_LAUNCH_RAILSET_H

#include "launch/start/daemon.h"
#include "launch/start/job.h"
#include "launch/plan/route.h"

#define ZRAILSET_TEXT_BYTES (ZCTL_RAILS_MAX * ZHOPS_TEXT_BYTES) /* for the ways to all rails */
#define ZRAILSET_ENTRIES_BYTES (ZCTL_RAILS_MAX * ZCTL_ENTRIES_MAX)

struct zrailset {
	struct zroute *routes; /* to the zippers that join the clusters, in the order of the file; owned */
	struct zhostways ways; /* ways->hops: ways to all of used, in this order */
	const struct zhostfile *hosts;
	int nroutes;
	int max;    /* at most so many routes are used: the first ones that can be */
	bool quiet; /* the caller tells which routes are left out */
	struct zroute *used[ZCTL_RAILS_MAX];
	int n;
	struct zdaemon daemons[ZCTL_RAILS_MAX]; /* of used[i]; pid is 0 where the zipperd is not ours to start */
};

/* Finds the routes. It is an error if none can be used. wanted: the number given with --rails, or 0. hosts is used as
 * long as the rails. 0 or a negative errno with text. Free with zrailset_free in any case. */
int zrailset_find(struct zrailset *, const struct zplan *, const struct zhostfile *hosts, int wanted, struct zerr *);
void zrailset_free(struct zrailset *);
/* The name of the first zipper that may be used and is not ours to start. It knows the user's key, which the others
 * must take. NULL: all are ours to start. */
const char *zrailset_find_running(const struct zrailset *);
/*
 * Starts and registers one route after the other. A zipper that cannot be used, or whose zipperd does not answer, is
 * left out with a line on stderr that says why, as long as there is another one. So is one that drains. A zipperd that
 * refuses us otherwise is an error; so is a zipperd of ours that does not start.
 *
 * Where ranks reach zipperds over hops, all running zipperds are asked first. Without one of them there may be other
 * ways; if there is none, its reason is the error. 0 or a negative errno with text. On an error the caller has to end
 * the zipperds that were started.
 */
int zrailset_open(struct zrailset *, struct zjob *, struct zdaemon_params *, struct zsession_params *,
	const struct zplan *, const struct zscratch *, struct zerr *);
/* Does this error of a session say that zipperd is not there, does not answer, or takes no new jobs? Else it refuses
 * us.
 */
bool zrailset_is_away(int rc);
/* Writes the addresses of the rails as a part sees them, or its ways to them, for ZIPPER_ZIPPERD. Returns buf. */
const char *zrailset_format(const struct zrailset *, int part, char buf[ZRAILSET_TEXT_BYTES]);
/* Writes by which fabrics all parts come to each rail, for ZIPPER_ENTRIES. Returns buf, or NULL if no hops are needed.
 */
const char *zrailset_format_entries(const struct zrailset *, char buf[ZRAILSET_ENTRIES_BYTES]);

#endif
