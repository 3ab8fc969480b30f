/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits of jobs: to join, to say BYE after a lost channel, to be remembered. Control thread. */
#ifndef ZIPPERD_JOB_DEADLINE_H
#define ZIPPERD_JOB_DEADLINE_H

#include "zipperd/conn/daemon.h"

/* Does what is due at daemon.now_ms. */
void job_deadline_check_all(struct daemon *);
/* Is there a job whose time runs? */
bool job_deadline_any(const struct daemon *);

#endif
