/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and ends of launchers. Control thread. */
#ifndef ZIPPERD_LAUNCHER_H
#define ZIPPERD_LAUNCHER_H

#include "zipperd/conn/conn.h"
#include "zipperd/job/job.h"

/* CREATE: makes the job, or refuses. Takes the runs out of the message. */
void launcher_create(struct daemon *, struct conn *, struct zctl_create *);
/* The launcher's connection is gone: the job ends, and if it came back and the launcher has left, it ends here alone.
 */
void launcher_gone(struct job *, const char *how, bool left);
/* ABORT: the job ends. */
void launcher_abort(struct job *, const struct zctl_dead *);

#endif
