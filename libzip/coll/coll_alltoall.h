/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two ways of an alltoall share: block by block (coll_alltoall.c), and the small blocks of a
 * part together (coll_aggregate.c). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_ALLTOALL_H
#define ZIP_LIBZIP_COLL_ALLTOALL_H

#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_slots.h"

/* One side of the exchange. */
struct zside {
	struct zslots slots;
	const MPI_Datatype *types; /* Alltoallw: datatypes per rank, and displacements in bytes; else NULL */
};

struct zalltoall {
	struct zside send, recv;
	bool in_place;
	MPI_Count limit;	  /* blocks of at most so many bytes travel together; 0: none */
	MPI_Count block;	  /* bytes of every block; -1: they differ */
	int leaders;		  /* in each part */
	int local;		  /* the open step of the local pairs; -1: there are none */
	struct zbundle **bundles; /* [parts of zsched_peers], NULL for my own; see coll_aggregate.c */
};

static inline MPI_Datatype zside_type(const struct zside *d, int rank)
{
	return d->types ? d->types[rank] : d->slots.type;
}

static inline void *zside_at(const struct zside *d, int rank)
{
	return d->types ? d->slots.buf + zvec_get(d->slots.displs, rank) : zslots_at(&d->slots, rank);
}

/* On the wire, the same at both ends. */
static inline MPI_Count zside_bytes(const struct zside *d, int rank)
{
	return zbuf_wire_bytes(zslots_count(&d->slots, rank), zside_type(d, rank));
}

/* Waits for the steps of a pair; -1: there was none. */
static inline int zalltoall_close(struct zsched *s, const int step[2])
{
	int rc = step[0] >= 0 ? zstep_close(s, step[0]) : MPI_SUCCESS;
	return rc == MPI_SUCCESS && step[1] >= 0 ? zstep_close(s, step[1]) : rc;
}

/* Takes copies of what is to travel together, as the first step: later ones may overwrite it. */
int zalltoall_pack(struct zsched *, struct zalltoall *);
/* The exchange of these, in rounds of its own. Adds native steps in the same order in all members of a part. */
int zalltoall_aggregate(struct zsched *, struct zalltoall *);

#endif
