/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer that holds one slot for each rank: the side of a gather, scatter, allgather or alltoall where the data of
 * all ranks lie. Under the shim's lock. */
#ifndef ZIP_LIBZIP_SLOTS_H
#define ZIP_LIBZIP_SLOTS_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/coll/base/coll.h"

struct zslots {
	char *buf;
	MPI_Datatype type;
	MPI_Aint extent;
	bool vector;
	MPI_Count count;	    /* elements of each slot, if not vector */
	struct zvec counts, displs; /* if vector; displacements in extents */
};

/* The slots of the send side, and of the receive side, of a call. */
struct zslots zslots_send(const struct zcoll *);
struct zslots zslots_recv(const struct zcoll *);

static inline MPI_Count zslots_count(const struct zslots *l, int rank)
{
	return l->vector ? zvec_get(l->counts, rank) : l->count;
}
static inline MPI_Aint zslots_displ(const struct zslots *l, int rank)
{
	return l->vector ? zvec_get(l->displs, rank) : rank * l->count;
}
static inline void *zslots_at(const struct zslots *l, int rank)
{
	return l->buf + zslots_displ(l, rank) * l->extent;
}

/* Does the slot of that rank travel alone, between the root and the rank? Slots of `from` packed bytes and more do;
 * from 0: none does. The rank itself gets the same answer from what it sends or receives, taken as the only slot. */
bool zslots_is_alone(const struct zslots *, int rank, MPI_Count from);
/* *rest is the slots with those empty that travel alone, if sizes can differ; else it is all slots. MPI_SUCCESS or an
 * error class, as for all functions below that return int. */
int zslots_rest(struct zsched *, const struct zslots *, MPI_Count from, struct zslots *rest);

/* Counts and displacements of the members of my part by rank in the shadow, for a vector collective inside. */
int zslots_local(struct zsched *, const struct zslots *, MPI_Count **counts, MPI_Aint **displs);
/* All slots of part p of zsched_partners, in the order of the ranks, as one piece of typed data. */
int zslots_part(struct zsched *, const struct zslots *, int p, void **buf, MPI_Count *count, MPI_Datatype *type);
/* The same for members number low to high - 1 of the part. */
int zslots_members(struct zsched *, const struct zslots *, int p, int low, int high, void **buf, MPI_Count *count,
	MPI_Datatype *type);
/* All slots of part p packed for the wire: their bytes, packing, unpacking. */
MPI_Count zslots_wire_bytes(const struct zcomm *, const struct zslots *, int p);
int zslots_pack(const struct zcomm *, const struct zslots *, int p, char *wire);
int zslots_unpack(const struct zcomm *, const struct zslots *, int p, const char *wire);

#endif
