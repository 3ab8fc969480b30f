/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that the members of my part send, collected at the leaders of the part (leader.h) for messages to other
 * parts. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLLECT_H
#define ZIP_LIBZIP_COLLECT_H

#include "libzip/coll/base/coll.h"

/* The data that leader `number` of `leaders` has collected, for one message. */
struct zcollected {
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	int leaders, number;
};

/* How many leaders a part has whose members send so many packed bytes in all. Not asked in a part with one member. */
typedef int zcollect_leaders(struct zsched *, void *arg, MPI_Count bytes);
/* Adds the steps that follow, in a new round. In a leader it gets the collected data, in other members NULL.
 * MPI_SUCCESS or an error class. */
typedef int zcollect_then(struct zsched *, void *arg, const struct zcollected *);

/* Collects the send buffers of a call in my part, and calls `then`: at once, or, where sizes must be learned first
 * (vector), when the schedule has come so far. All members of the part add the same native steps. leaders NULL: there
 * is one leader. MPI_SUCCESS or an error class. */
int zcollect_part(struct zsched *, const struct zcoll *, zcollect_leaders *leaders, zcollect_then *then, void *arg);

#endif
