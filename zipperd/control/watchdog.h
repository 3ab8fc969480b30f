/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog of systemd (sd_watchdog_enabled(3)): zipperd tells it in time that all its threads live, or is killed
 * and started again. The control thread asks every worker. It tells systemd when all have answered, so one worker that
 * hangs is enough for a restart. Control thread.
 */
#ifndef ZIPPERD_WATCHDOG_H
#define ZIPPERD_WATCHDOG_H

#include "zipperd/conn/daemon.h"

/* Reads WATCHDOG_USEC and WATCHDOG_PID. Without them, or for another process, there is no watchdog. */
void watchdog_init(struct daemon *);
/* Asks all workers when it is time. An answer may come first in the next turn. */
void watchdog_turn(struct daemon *);
/* A worker has answered. */
void watchdog_pong(struct daemon *);
/* Milliseconds until watchdog_turn has something to do, or -1: never. */
int watchdog_timeout(const struct daemon *);

#endif
