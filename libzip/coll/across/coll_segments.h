/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vector cut into segments, which go through the stages of a collective as a pipeline, several of them side by side
 * where there are several leaders in each part: each leads its lane. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_SEGMENTS_H
#define ZIP_LIBZIP_COLL_SEGMENTS_H

#include <mpi.h>

#include "libzip/coll/inside/coll_data.h"
#include "common/config/tuning.h"

/* n segments of whole elements. */
struct zsegments {
	MPI_Count count, each;
	MPI_Aint extent;
	int n;		   /* at least one, which may be empty */
	int lanes, groups; /* segment k: lane k % lanes of group k / lanes, which is what is done at a time */
	struct ztuning_settings tune;
};

/* As the settings say (segment, segments, leaders); members: of the part that has the fewest. The same in all ranks
 * that have the same settings, as the sizes on the wire are the same everywhere; in memory they need not be. */
struct zsegments zsegments_cut(const struct ztuning_settings *, int members, MPI_Count count, MPI_Datatype);

static inline MPI_Count zsegments_count(const struct zsegments *g, int k)
{
	MPI_Count left = g->count - g->each * k;
	return left < g->each ? left : g->each;
}

/* Where segment k of such a buffer begins. */
static inline void *zsegments_at(const struct zsegments *g, const void *buf, int k)
{
	return zbuf_at(buf, g->each * k, g->extent);
}

/* The segment of lane l in group i, -1: there is none. */
static inline int zsegments_number(const struct zsegments *g, int i, int l)
{
	int k = i * g->lanes + l;
	return i >= 0 && k < g->n ? k : -1;
}

#endif
