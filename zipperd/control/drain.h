/* SPDX-License-Identifier: BSD-3-Clause */
/* A zipperd that drains takes no new jobs, while those that it has run to their end. systemd hears how many are left.
 * Control thread. */
#ifndef ZIPPERD_DRAIN_H
#define ZIPPERD_DRAIN_H

#include "zipperd/conn/daemon.h"

void drain_begin(struct daemon *);
/* New jobs are taken again. */
void drain_end(struct daemon *);
/* The number of jobs that have not ended. */
int drain_left(const struct daemon *);
/* To be called in every turn: tells systemd where jobs have ended since the last turn. */
void drain_turn(struct daemon *);

#endif
