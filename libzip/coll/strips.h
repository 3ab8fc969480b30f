/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strips of a vector that is reduced: each leader of a part leads one (segments.h). What MPI_Reduce and
 * MPI_Allreduce have in common. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_STRIPS_H
#define ZIP_LIBZIP_STRIPS_H

#include "libzip/coll/across/segments.h"
#include "libzip/coll/base/coll.h"
#include "libzip/coll/inside/subtotal.h"

/* A strip in my part. */
struct zstrip {
	int root;  /* its leader: a rank in the shadow */
	bool mine; /* I am the leader */
	struct zsubtotal in;
};

/* Cuts the vector of a call as the settings of that collective say. */
struct zsegments zstrips_cut(struct zsched *, enum ztuning_collective, MPI_Count count, MPI_Datatype);
/* The strips of my part, led by its leaders, or all by `one` (a rank in the shadow) if that is not -1. *strips is an
 * array [g->strips] in the schedule's memory. MPI_SUCCESS or an error class. */
int zstrips_make(struct zsched *, const struct zsegments *g, const struct zcoll *, int one, struct zstrip **strips);
/* My contribution to segment k, as zsubtotal_start takes it. */
const void *zstrips_own(const struct zsegments *, const struct zcoll *, const struct zstrip *, int k);

#endif
