/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop, and the signals that it obeys. */
#ifndef ZIPPERD_LOOP_H
#define ZIPPERD_LOOP_H

#include "zipperd/control/daemon.h"

/* Signals are blocked from here on and arrive in the loop. */
int loop_init(struct daemon *, struct zerr *);
/* Until SIGTERM or SIGINT, and then until all jobs have ended or STOP_MS are over. */
void loop_run(struct daemon *);
void loop_fini(struct daemon *);

#endif
