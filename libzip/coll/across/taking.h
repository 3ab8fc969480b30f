/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of a reduction between groups (groupsum.h) that takes: it receives the parts' sums, combines them, and
 * spreads or scatters the result. Schedules are across (zsched_across). Under the shim's lock. */
#ifndef ZIP_LIBZIP_TAKING_H
#define ZIP_LIBZIP_TAKING_H

#include "libzip/coll/across/groupsum.h"
#include "libzip/schedule/sched.h"

struct ztaking;

/* Where a ZGROUPSUM_SHARE is to go. The slots of the part's members lie side by side by their ranks in the shadow:
 * member i's slot goes from edges[i] to edges[i + 1] ([nlocal + 1], which lives as long as the schedule). The share
 * begins at element first. */
struct ztaking_slots {
	const MPI_Count *edges;
	MPI_Count first;
};

/* In the rank `to`, or in all members of the group, or of the part, that takes. result is the receive buffer; it is
 * used only in ranks that combine or spread. slots is for a share only, else NULL. In the schedule's memory.
 * MPI_SUCCESS or an error class, as for all functions here but the last one. */
int ztaking_create(struct zsched *, const struct zgroupsum *, void *result, const struct ztaking_slots *,
	struct ztaking **);
/* Adds to the current round: receiving the sums of the segments of group i. There need be no group i. */
int ztaking_receive(struct zsched *, const struct ztaking *, int i);
/* Waits for these messages, in the round that is depth - 1 rounds later. */
int ztaking_land(struct zsched *, const struct ztaking *, int i);
/* In the round after that: combines the sums, and spreads or scatters the result. */
int ztaking_spread(struct zsched *, const struct ztaking *, int i);
const struct zsegments *ztaking_segments(const struct ztaking *);

#endif
