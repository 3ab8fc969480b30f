/* SPDX-License-Identifier: BSD-3-Clause */
/* The first time of a group: it enters the tables, hears early words, and waits for its neighbours. */
#ifndef ZIPCAST_BEGIN_H
#define ZIPCAST_BEGIN_H

#include "zipcast/group.h"

/* 0; -ENOMEM: the group cannot be found by its number and must be abandoned (zend_abandon). The context's thread. */
int zbegin_group(struct zipcast_group *);
/* Has a look at a group with a deadline, each tick. Past the deadline a missing neighbour makes the group fail. The
 * context's thread. */
void zbegin_look(struct zipcast_group *, int64_t now_ms);

#endif
