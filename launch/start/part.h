/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of the job: an mpiexec and its output. */
#ifndef ZIP_LAUNCH_PART_H
#define ZIP_LAUNCH_PART_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/io/chatter.h"
#include "launch/base/environ.h"
#include "launch/plan/options.h"
#include "launch/io/output.h"
#include "launch/plan/plan.h"
#include "launch/io/pump.h"
#include "launch/start/reach.h"
#include "launch/base/scratch.h"

struct zpart {
	const struct zplan_part *plan;
	pid_t pid; /* of mpiexec; 0: not started, or ended */
	bool started;
	int wait_status; /* of mpiexec, once it has ended */
	int64_t ended_ms;
	struct zreach reach;
	bool by_itself; /* it had ended before we sent it SIGTERM */
	struct zpump out, err;
	struct zchatter chatter;
};

struct zpart_params {
	const struct zoptions *options;
	const char *mpiexec;
	const char *libzipper; /* NULL: nothing is preloaded */
	const struct zscratch *scratch;
	struct zenviron environ;
	struct zoutput *out, *err;
	const bool *hush; /* see pump.h; for stderr */
};

/* Starts it. input: the read end of a pipe, or -1. 0 or a negative errno with text. */
int zpart_start(struct zpart *, const struct zplan_part *, const struct zpart_params *, int input, struct zerr *);
/* Highest status of a rank once it has ended; mpiexec's own where it did not tell. failed: the job has failed, and
 * mpiexec has perhaps killed ranks because of that; these count only if no other rank tells more. */
int zpart_status(const struct zpart *, bool failed);
/* The signal that killed a rank of it, or 0. */
int zpart_killer(const struct zpart *);
/* Signals mpiexec, which passes it on to the ranks where it can; or its whole process group. */
void zpart_signal(const struct zpart *, int signal, bool group);
/* Nothing more to come: ended, and all output handed on. */
bool zpart_is_over(const struct zpart *);

#endif
