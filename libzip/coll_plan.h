/* SPDX-License-Identifier: BSD-3-Clause */
/* What a root sends to the leaders of all other parts, handed on from part to part by a plan of zipcast's. */
#ifndef ZIP_LIBZIP_COLL_PLAN_H
#define ZIP_LIBZIP_COLL_PLAN_H

#include "castplan.h"
#include "schedule.h"

/* bytes > 0 at wire, in blocks of at most `block`, at most `blocks` of them. Members of the plan are the parts: the
 * root's is member 0, in which the root alone sends; in the others the leader receives and hands on, and each block is
 * spread by a native broadcast when it has come. All members call it, but for those of the root's part that are not the
 * root. wire stays the caller's until the schedule is complete. Ends its last round. MPI_SUCCESS or an error class. */
int zbuild_plan(struct zsched *, char *wire, MPI_Count bytes, MPI_Count block, int64_t blocks, int root,
	enum zcast_algorithm);

#endif
