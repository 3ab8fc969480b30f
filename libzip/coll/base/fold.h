/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of several parts or ranks, always in their order, so that the result does not depend on
 * the rank that computes it. Under the shim's lock. */
#ifndef ZIP_LIBZIP_FOLD_H
#define ZIP_LIBZIP_FOLD_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

struct zfold {
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	int n;	       /* contributions */
	void **inputs; /* [n]; they are overwritten */
	void *result;  /* may be one of the inputs */
};

/* A fold of one contribution for each of the first nparts parts, in the schedule's memory. The contribution of my part
 * is in result; those of the others get temporary buffers. NULL: no memory. */
struct zfold *zfold_create(struct zsched *, int nparts, void *result, MPI_Count count, MPI_Datatype, MPI_Op);
/* Carries a struct zfold out: the function of a step (zstep_call). Does nothing if the schedule has failed. */
int zfold_call(struct zsched *, void *fold);
/* Adds such a step for n contributions. Returns the array [n] where the caller puts their addresses. NULL: no memory.
 */
void **zfold_add(struct zsched *, int n, void *result, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
