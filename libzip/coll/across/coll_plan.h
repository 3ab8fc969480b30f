/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks send to the leaders of all other parts, handed on from part to part by the plans of zipcast's: one piece
 * of data and one plan for each, and any number of them at the same time. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_PLAN_H
#define ZIP_LIBZIP_COLL_PLAN_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"
#include "common/config/tuning.h"

struct zplan_piece {
	int root;	 /* the rank that has it; the others of its part have it already, or get it in another way */
	int number;	 /* of the leader who gets it in each other part, hands it on, and spreads it there */
	MPI_Count bytes; /* may be 0 */
	char *wire;	 /* as it travels: where it is, or comes to lie; NULL in the root's part but for the root. The
			  * caller's until the schedule is complete. */
};

/* Do plans count, in this communicator and by these settings? With two parts all are alike; from group to group there
 * are none. */
bool zplan_is_used(const struct zsched *, const struct ztuning_settings *);

/* In blocks of `segment` bytes, at most `segments` of each piece; each of so many leaders in a part has `depth` blocks
 * of a piece on their way from a part to the next. Each block is spread by a native broadcast when it has come. All
 * ranks call it, with the same pieces in the same order, but for those of a part that has all of them. Ends its last
 * round. MPI_SUCCESS or an error class. */
int zbuild_plans(struct zsched *, const struct zplan_piece *, int n, int leaders, const struct ztuning_settings *);

/* One block of each part to all others, step by step: in step j that of part p comes from part hops[j][p].from to mine,
 * which sends it to hops[j][p].to; -1: nobody. So many steps, the same in all ranks; hops: [steps][nparts], in the
 * schedule's memory, or NULL: no memory. Between the same two parts in the order of p. */
struct zplan_hop {
	int from, to;
};
int zplan_hops_steps(const struct zsched *, const struct ztuning_settings *);
struct zplan_hop *zplan_hops(struct zsched *, const struct ztuning_settings *);

#endif
