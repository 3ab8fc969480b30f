/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits all hosts that ranks of a job would run on. Start-up only. */
#ifndef ZIP_LAUNCH_HOSTS_H
#define ZIP_LAUNCH_HOSTS_H

#include "common/base/err.h"
#include "common/doctor/report.h"
#include "launch/start/locate.h"
#include "launch/start/part.h"
#include "launch/start/railset.h"

struct zhosts_params {
	const struct zoptions *options;
	const struct zplan *plan;
	const struct zrailset *rails; /* open; n is 0: no zipper can be reached from here */
	const struct zlocate *locate;
	const struct zscratch *scratch;
	const char *hostfile;	 /* its path; NULL: there is none */
	struct zenviron environ; /* what all ranks are told */
	bool bridged;
};

/* Prints at least one line for each host. 0 or a negative errno with text: the check itself has failed. */
int zhosts_check(struct zreport *, const struct zhosts_params *, struct zerr *);

#endif
