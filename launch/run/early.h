/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals that come before the job runs. Meanwhile names are looked up, and zipperd is started or asked, which may take
 * minutes and cannot be told to stop. There is nothing to end yet but zipperds of our own and the private directory: so
 * it is the handler that takes these away, and ends zmpirun.
 */
#ifndef ZIP_LAUNCH_EARLY_H
#define ZIP_LAUNCH_EARLY_H

#include "launch/start/daemon.h"
#include "launch/base/scratch.h"

/* From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT, which zrun_init has blocked unless they are ignored, end zmpirun.
 * The n daemons, with pid 0 where there is none yet, and the scratch must live until zearly_end. */
void zearly_begin(const struct zdaemon *, int n, struct zscratch *);
/* Blocks them again: from here on they are for zrun_wait. */
void zearly_end(void);

#endif
