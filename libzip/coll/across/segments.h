/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vector cut into segments, which go through the stages of a collective as a pipeline. Where a part has several
 * leaders, each of them leads a strip of the vector: every strips-th segment. The strips go side by side. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_SEGMENTS_H
#define ZIP_LIBZIP_SEGMENTS_H

#include <mpi.h>

#include "common/config/tuning.h"
#include "libzip/coll/base/buf.h"

struct zsegments {
	MPI_Count count, each; /* elements of the vector, and of each segment but the last one */
	MPI_Aint extent;
	int n;		    /* segments of whole elements; at least one, which may be empty */
	int strips, groups; /* segment k is in strip k % strips and in group k / strips; one group is done at a time */
	struct ztuning_settings tune;
};

/* Cuts as the settings say (segment, segments, leaders). members: of the part that has the fewest. All ranks that have
 * the same settings get the same segments, as these go by the sizes on the wire and not by those in memory. */
struct zsegments zsegments_cut(const struct ztuning_settings *, int members, MPI_Count count, MPI_Datatype);

/* Elements of segment k. */
static inline MPI_Count zsegments_count(const struct zsegments *g, int k)
{
	MPI_Count left = g->count - g->each * k;
	return left < g->each ? left : g->each;
}

/* The beginning of segment k in a buffer that has the vector. */
static inline void *zsegments_at(const struct zsegments *g, const void *buf, int k)
{
	return zbuf_at(buf, g->each * k, g->extent);
}

/* The number of the segment that strip l has in group i, or -1: it has none. */
static inline int zsegments_number(const struct zsegments *g, int i, int l)
{
	int k = i * g->strips + l;
	return i >= 0 && k < g->n ? k : -1;
}

#endif
