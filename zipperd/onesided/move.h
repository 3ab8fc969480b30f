/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers that are running: pieces come in and go out, receivers take turns. Worker's thread. */
#ifndef ZIPPERD_MOVE_H
#define ZIPPERD_MOVE_H

#include <stdbool.h>

struct worker;

/* Once a round, fan-outs included. true: something moved. */
bool move_turn(struct worker *);
/* Before sleep: arms the halves concerned as far as possible. Returns whether the worker must not sleep. *poll: a
 * transfer is under way, and the worker is to look again soon. */
bool move_sleep(struct worker *, bool *poll);

#endif
