/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of a reduction between groups (groupsum.h) that gives: it reduces segments inside its parts, and sends the
 * sums. Schedules are across (zsched_across). Under the shim's lock. */
#ifndef ZIP_LIBZIP_GIVING_H
#define ZIP_LIBZIP_GIVING_H

#include "libzip/coll/across/groupsum.h"
#include "libzip/schedule/sched.h"

struct zgiving;

/* In all members of the group that gives. In the schedule's memory. MPI_SUCCESS or an error class, as for all functions
 * here but the last one. */
int zgiving_create(struct zsched *, const struct zgroupsum *, const void *sendbuf, struct zgiving **);
/* Adds to the current round: the reduction of the segments of group i inside my part, and in the round after that the
 * sending of their sums. There need be no group i. */
int zgiving_reduce(struct zsched *, const struct zgiving *, int i);
int zgiving_send(struct zsched *, const struct zgiving *, int i);
/* Waits for these messages, in the round that is depth - 1 rounds later. */
int zgiving_land(struct zsched *, const struct zgiving *, int i);
const struct zsegments *zgiving_segments(const struct zgiving *);

#endif
