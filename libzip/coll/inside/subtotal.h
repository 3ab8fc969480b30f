/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction inside a part, segment by segment: by the native nonblocking reduction, or gathered at its root, which
 * combines the vectors. The setting `inside` of the tuning table says which. The root combines vectors on the part's
 * board (libzip/world/board.h) where they lie, if it can. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_SUBTOTAL_H
#define ZIP_LIBZIP_SUBTOTAL_H

#include <mpi.h>
#include <stdbool.h>

#include "common/config/tuning.h"
#include "libzip/schedule/sched.h"

struct zsubtotal {
	MPI_Datatype type;
	MPI_Op op;
	int root;      /* rank in the shadow */
	bool gathers;  /* the same in all members of the part */
	bool shared;   /* gathers: through the board, where the root combines */
	void *members; /* gathers, not shared, at the root: the members' vectors side by side */
};

/* longest: elements of the longest segment. May add a step to the current round. MPI_SUCCESS or an error class, as for
 * all functions here that return int. */
int zsubtotal_init(struct zsubtotal *, struct zsched *, const struct ztuning_settings *, MPI_Count longest,
	MPI_Datatype, MPI_Op, int root);
/* On the root: the place where a result of count elements comes to lie without a copy. NULL: any place will do. */
void *zsubtotal_place(const struct zsubtotal *, const struct zsched *, MPI_Count count);
/* Adds the reduction to the current round. own is this member's vector; MPI_IN_PLACE on the root: it is in result.
 * result counts on the root only. */
int zsubtotal_start(const struct zsubtotal *, struct zsched *, const void *own, void *result, MPI_Count count);
/* To be called on the root with the same arguments, in the next round, before anything that needs the result and before
 * the next start. */
int zsubtotal_finish(const struct zsubtotal *, struct zsched *, const void *own, void *result, MPI_Count count);

#endif
