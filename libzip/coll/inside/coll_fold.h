/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of several parts or ranks, always in their order, so that the result
 * does not depend on who computes it. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLL_FOLD_H
#define ZIP_LIBZIP_COLL_FOLD_H

#include <mpi.h>

#include "libzip/coll/coll.h"

struct zfold {
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	int n;	       /* contributions */
	void **inputs; /* [n]; they are overwritten */
	void *result;  /* may be one of the inputs */
};

/* A fold of one contribution per part, in the schedule's memory: that of my part is result, the
 * others get temporary buffers. nparts: the first so many parts. NULL: no memory. */
struct zfold *zfold_create(struct zsched *, int nparts, void *result, MPI_Count count, MPI_Datatype, MPI_Op);
/* A step (zstep_call) with a struct zfold. Does nothing if the schedule has failed. */
int zfold_call(struct zsched *, void *fold);
/* Adds such a step for n contributions. Returns where the caller puts their addresses, [n]; NULL: no memory. */
void **zfold_add(struct zsched *, int n, void *result, MPI_Count count, MPI_Datatype, MPI_Op);

/* The contributions of all ranks, that of rank r at r * pitch bytes. */
struct zgathered {
	void *buf; /* NULL: they are not here */
	MPI_Aint pitch;
	/* one of them: a datatype whose extent is the pitch, or as it came */
	MPI_Count slot_count;
	MPI_Datatype slot;
};
static inline void *zgathered_at(const struct zgathered *g, int rank)
{
	return (char *)g->buf + rank * g->pitch;
}
/* Gathers sendbuf (count elements) of all ranks at root, in a temporary buffer there. For operations that do not
 * commute where the ranks of the parts are interleaved. */
int zbuild_gather_all(struct zsched *, const void *sendbuf, MPI_Count count, MPI_Datatype, int root,
	struct zgathered *);
/* On root, after that: the contributions combined in rank order in result. */
int zbuild_fold_all(struct zsched *, const struct zgathered *, void *result, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
