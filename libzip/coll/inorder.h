/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions that cannot be combined part by part, as the operation does not commute and the ranks of the parts are
 * interleaved: one rank gathers the contributions of all ranks, and combines them in rank order. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_INORDER_H
#define ZIP_LIBZIP_INORDER_H

#include "libzip/coll/base/coll.h"

/* Is this so? In both groups of an intercommunicator the same answer for each group. */
bool zinorder_is_needed(const struct zcomm *group, MPI_Op);

/* The contributions of all ranks. */
struct zinorder {
	void *buf;	/* NULL: they are not here */
	MPI_Aint pitch; /* the contribution of rank r is at r * pitch bytes */
	/* one contribution: as it came, or a datatype whose extent is the pitch */
	MPI_Count slot_count;
	MPI_Datatype slot;
};
static inline void *zinorder_at(const struct zinorder *g, int rank)
{
	return (char *)g->buf + rank * g->pitch;
}
/* Gathers sendbuf (count elements) of all ranks at root, in a temporary buffer there. MPI_SUCCESS or an error class. */
int zinorder_gather(struct zsched *, const void *sendbuf, MPI_Count count, MPI_Datatype, int root, struct zinorder *);
/* On root, after that: combines the contributions into result. MPI_SUCCESS or an error class. */
int zinorder_fold(struct zsched *, const struct zinorder *, void *result, MPI_Count count, MPI_Datatype, MPI_Op);
/* Both for a call on an intracommunicator: root gets the result in recvbuf. MPI_SUCCESS or an error class. */
int zinorder_reduce(struct zsched *, const struct zcoll *, int root);
/* Both for my group of an intercommunicator, across: *mine is the group's sum at its rank 0, and NULL elsewhere. Ends
 * its last round. MPI_SUCCESS or an error class. */
int zinorder_collect(struct zsched *, const struct zcoll *, MPI_Count count, void **mine);

#endif
