/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop, and the signals that it obeys. */
#ifndef ZIPPERD_LOOP_H
#define ZIPPERD_LOOP_H

#include "zipperd/conn/daemon.h"

/* Blocks the signals, which from now on arrive in the loop. 0 or a negative errno with text. */
int loop_init(struct daemon *, struct zerr *);
/* Runs until SIGTERM or SIGINT, and then until all jobs have ended or STOP_MS are over. */
void loop_run(struct daemon *);
void loop_fini(struct daemon *);

#endif
