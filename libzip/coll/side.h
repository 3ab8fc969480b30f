/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of an alltoall, the blocks that a rank sends or receives, and the state of an exchange. Under the shim's
 * lock. */
#ifndef ZIP_LIBZIP_SIDE_H
#define ZIP_LIBZIP_SIDE_H

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/slots.h"
#include "libzip/schedule/step.h"

struct zside {
	struct zslots slots;
	const MPI_Datatype *types; /* MPI_Alltoallw: a datatype per rank, and displacements in bytes; else NULL */
};

struct zalltoall {
	struct zside send, recv;
	bool in_place;
	MPI_Count limit;	  /* blocks of at most so many bytes travel together; 0: none */
	MPI_Count block;	  /* bytes of every block; -1: they differ */
	int leaders;		  /* in each part */
	int local;		  /* the open step of the local pairs; -1: there are none */
	struct zbundle **bundles; /* [parts of zsched_partners], NULL for my own; see aggregate.c */
};

static inline MPI_Datatype zside_type(const struct zside *d, int rank)
{
	return d->types ? d->types[rank] : d->slots.type;
}

static inline void *zside_at(const struct zside *d, int rank)
{
	return d->types ? d->slots.buf + zvec_get(d->slots.displs, rank) : zslots_at(&d->slots, rank);
}

/* Bytes of a block on the wire, the same at both ends. */
static inline MPI_Count zside_bytes(const struct zside *d, int rank)
{
	return zbuf_wire_bytes(zslots_count(&d->slots, rank), zside_type(d, rank));
}

/* Waits for the two open steps of a pair; -1: there is no such step. MPI_SUCCESS or an error class. */
static inline int zside_close(struct zsched *s, const int step[2])
{
	int rc = step[0] >= 0 ? zstep_close(s, step[0]) : MPI_SUCCESS;
	return rc == MPI_SUCCESS && step[1] >= 0 ? zstep_close(s, step[1]) : rc;
}

#endif
