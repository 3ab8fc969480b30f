/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that ranks send to the leaders of all other parts, handed on from part to part by the plans of zipcast
 * (common/castplan). Each piece of data has a plan, and any number of pieces go at the same time. Under the shim's
 * lock.
 */
#ifndef ZIP_LIBZIP_PLAN_H
#define ZIP_LIBZIP_PLAN_H

#include <mpi.h>
#include <stdbool.h>

#include "common/config/tuning.h"
#include "libzip/schedule/sched.h"

struct zplan_piece {
	int root;	 /* the rank that has the piece; the others of its part have it already, or get it otherwise */
	int number;	 /* of the leader that gets the piece in each other part, hands it on, and spreads it there */
	MPI_Count bytes; /* may be 0 */
	char *wire; /* as it travels: where it lies, or comes to lie. NULL in the root's part except on the root. The
		     * caller's until the schedule is complete */
};

/* Are plans used in this communicator with these settings? Not with two parts, where all plans are alike, and not from
 * group to group, where there are none. */
bool zplan_is_used(const struct zsched *, const struct ztuning_settings *);

/* Sends the pieces in blocks of `segment` bytes, at most `segments` blocks a piece. Each of `leaders` leaders in a part
 * has `depth` blocks of a piece on their way to the next part. A native broadcast spreads each block when it has come.
 * All ranks call this with the same pieces in the same order, except those of a part that has all pieces. Ends its last
 * round. MPI_SUCCESS or an error class. */
int zplan_build(struct zsched *, const struct zplan_piece *, int n, int leaders, const struct ztuning_settings *);

/* One block of each part goes to all other parts, step by step. In step j the block of part p comes to my part from
 * part hops[j][p].from, and goes on to part hops[j][p].to; -1: from or to no part. Blocks between the same two parts go
 * in the order of p. */
struct zplan_hop {
	int from, to;
};
/* The number of steps, the same in all ranks. */
int zplan_hops_steps(const struct zsched *, const struct ztuning_settings *);
/* hops [steps][nparts], in the schedule's memory. NULL: no memory. */
struct zplan_hop *zplan_hops(struct zsched *, const struct ztuning_settings *);

#endif
