/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what a visit to a host has found. One thread. */
#ifndef ZIP_LAUNCH_JUDGE_H
#define ZIP_LAUNCH_JUDGE_H

#include <stdbool.h>

#include "common/doctor/report.h"
#include "launch/check/visit.h"
#include "launch/start/railset.h"

struct zjudge {
	struct zreport *report;
	const struct zplan *plan;
	const struct zrailset *rails; /* those in use have been told to the probes */
	bool bridged;		      /* the job needs libzipper.so and zippers */
	/* Of each part: the MPI library of its first host, and that host; NULL: none was found yet */
	const char *mpi[ZCTL_PARTS_MAX], *mpi_host[ZCTL_PARTS_MAX];
};

/* Prints a line for each fault, or one line that all is well. Cuts up the visit's output, which must live as long as
 * the struct zjudge. */
void zjudge_visit(struct zjudge *, struct zvisit *);

#endif
