/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits to hosts: an mpiexec of its own starts the probe on each host, as it would start a rank there. So a host that
 * is not reached keeps no other host from answering. One thread. */
#ifndef ZIP_LAUNCH_VISIT_H
#define ZIP_LAUNCH_VISIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"
#include "launch/plan/plan.h"
#include "launch/start/part.h"
#include "launch/start/reach.h"

struct zvisit {
	/* set by the caller: */
	const char *name;	 /* of the host, as people know it */
	int part;		 /* index into plan.parts */
	struct zplan_part place; /* this host alone, for mpiexec; its name is different for each visit */
	struct zplan_host host;	 /* the place's */
	struct zoptions options; /* of this mpiexec; its sections start the probes, and are owned */
	struct zargv *words;	 /* [options.nsections]: the sections' words; owned */
	/* the outcome: */
	char *output, *errors;	    /* what came; never NULL after the visit; owned */
	int64_t began_ms, ended_ms; /* milliseconds since 1970 */
	bool late;		    /* it was ended, as it took too long */
	struct zerr failed; /* mpiexec did not start, or the program that starts the proxy failed; "": neither */
	/* while it runs: */
	size_t len[2];
	pid_t pid; /* 0: not started, or over */
	int fd[2];
	int64_t end_ms;
	struct zreach reach;
};

/* Makes all n visits, several at a time. environ is for the visits of one part each: fill is called before each start.
 * limit_ms: of one visit. */
void zvisit_all(struct zvisit *, int n, int limit_ms, struct zpart_params *,
	void (*fill)(void *ctx, int part, struct zenviron *), void *ctx);
void zvisit_free(struct zvisit *);

#endif
