/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction inside a part, segment by segment: by the native nonblocking reduction, or gathered at
 * its root, who combines them: `inside` in the tuning table says which. The root combines what lies on
 * the part's board (board.h) where it lies, if it can. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_INSIDE_H
#define ZIP_LIBZIP_COLL_INSIDE_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"
#include "common/config/tuning.h"

struct zinside {
	MPI_Datatype type;
	MPI_Op op;
	int root;      /* rank in the shadow */
	bool gathers;  /* the same in all members of the part */
	bool shared;   /* gathers: by the board, and at the root combined there */
	void *members; /* gathers, not shared, root: the members' vectors side by side */
};

/* longest: of the segments. Adds a step to the current round. An error class. */
int zinside_init(struct zinside *, struct zsched *, const struct ztuning_settings *, MPI_Count longest, MPI_Datatype,
	MPI_Op, int root);
/* On the root: where the result of so many elements comes to lie without a copy; NULL: wherever the caller wants it. */
void *zinside_place(const struct zinside *, const struct zsched *, MPI_Count count);
/* Adds to the current round: combine own vectors (MPI_IN_PLACE on the root: in result). result
 * counts on the root only. */
int zinside_start(const struct zinside *, struct zsched *, const void *own, void *result, MPI_Count count);
/* On the root, in the next round, before anything that needs the result and before the next start,
 * with the same arguments. */
int zinside_finish(const struct zinside *, struct zsched *, const void *own, void *result, MPI_Count count);

#endif
