/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that come before the job runs. Meanwhile zmpirun looks up names, and starts zipperd or asks it; this may take
 * minutes and cannot be interrupted. Only zipperds of our own and the private directory exist by then. The signal
 * handler therefore removes them and ends zmpirun. */
#ifndef ZIP_LAUNCH_EARLY_H
#define ZIP_LAUNCH_EARLY_H

#include <sys/types.h>

#include "launch/start/daemon.h"
#include "launch/base/scratch.h"

/* From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT end zmpirun. zrun_init has blocked them, except for those that are
 * ignored. The n daemons (with pid 0 where there is none yet) and the scratch must live until zearly_end. */
void zearly_begin(const struct zdaemon *, int n, struct zscratch *);
/* A zmpirun of our own that runs meanwhile (the trial of --check); 0: none any more. It is told to end and awaited, as
 * it has a private directory, with the user's key in it. */
void zearly_note(pid_t);
/* Blocks the signals again: from here on zrun_wait takes them. */
void zearly_end(void);

#endif
