/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer that holds one slot per rank: the side of a gather, scatter, allgather or alltoall where
 * the data of all ranks lie. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_SLOTS_H
#define ZIP_LIBZIP_COLL_SLOTS_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/coll/coll.h"

struct zslots {
	char *buf;
	MPI_Datatype type;
	MPI_Aint extent;
	bool vector;
	MPI_Count count;	    /* elements per slot, if not vector */
	struct zvec counts, displs; /* if vector; displacements in extents */
};

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

/* Is the slot of that rank one of those that travel alone, between the root and its rank: from so many packed bytes on,
 * 0: none? The rank itself knows as well, with what it sends or receives as the only slot. */
bool zslots_is_alone(const struct zslots *, int rank, MPI_Count from);
/* The slots with those empty that travel alone, if they can be of different sizes; otherwise all of them. */
int zslots_rest(struct zsched *, const struct zslots *, MPI_Count from, struct zslots *rest);

/* Counts and displacements of the local members by shadow rank, for a native vector collective. */
int zslots_local(struct zsched *, const struct zslots *, MPI_Count **counts, MPI_Aint **displs);
/* All slots of part p of the peers (zsched_peers), in the order of the ranks, as one piece of typed data. */
int zslots_part(struct zsched *, const struct zslots *, int p, void **buf, MPI_Count *count, MPI_Datatype *type);
/* Those of its members number low to high - 1 alone. */
int zslots_members(struct zsched *, const struct zslots *, int p, int low, int high, void **buf, MPI_Count *count,
	MPI_Datatype *type);
/* The same packed for the wire: how many bytes, pack, unpack. */
MPI_Count zslots_wire_bytes(const struct zcomm *, const struct zslots *, int p);
int zslots_pack(const struct zcomm *, const struct zslots *, int p, char *wire);
int zslots_unpack(const struct zcomm *, const struct zslots *, int p, const char *wire);

#endif
