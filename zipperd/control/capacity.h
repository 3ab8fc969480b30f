/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether there is room: max_connections, and the descriptors that connections take. Who comes while there is none
 * waits in the kernel's queue for a moment, and longer while some others are about to go; after that a few at a time
 * are let in all the same, to hear why they cannot stay. So nobody waits without end and without a word, not even those
 * who wait for each other. Control thread.
 */
#ifndef ZIPPERD_CAPACITY_H
#define ZIPPERD_CAPACITY_H

#include "zipperd/control/daemon.h"
#include "common/base/err.h"

struct job;
struct peer;

/* All descriptors that we may have; max_connections becomes what they suffice for. */
void capacity_open(struct daemon *);
void capacity_log(const struct daemon *); /* if that is less */
/* May one more connection be accepted now? */
bool capacity_allows(struct daemon *);
/* It was let in to hear that there is no room, and there still is none: true, and why. */
bool capacity_lacks(const struct peer *, struct zerr *);
/* Is there room for all connections that a job of so many endpoints may open, as far as its parts' sizes are known?
 * 0 or -E2BIG with text. */
int capacity_check(const struct job *, uint32_t endpoints, struct zerr *);

#endif
