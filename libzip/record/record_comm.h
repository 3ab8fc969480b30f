/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's books about communicators and windows: the vrank of each rank, neighbours, and collectives that have
 * been summed up but not yet decomposed. An entry is found by handle, made with the first use, and forgotten before
 * the handle is freed. */
#ifndef ZIP_LIBZIP_RECORD_COMM_H
#define ZIP_LIBZIP_RECORD_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/graph/graph.h"

struct zrecord_sum { /* calls of one kind, with one root, in one phase */
	enum zgraph_kind kind;
	int root;
	uint32_t phase;
	uint64_t calls, bytes; /* as in struct zgraph_call */
	uint64_t sends, units; /* calls with bytes; sum of their units */
};
#define ZRECORD_SUMS 32 /* a full table is decomposed, to make room */

struct zrecord_comm {
	uint64_t handle; /* zabi_bits of an MPI_Comm or MPI_Win, which differ */
	MPI_Comm comm;	 /* MPI_COMM_NULL: a window */
	int rank, size;	 /* of this process, and of the local group */
	bool inter;
	int npeers;   /* ranks that calls may name: the remote group of an intercommunicator, else size */
	int *vrank;   /* [npeers], -1: not in this world */
	int ntargets; /* destinations of neighbourhood collectives; -1: not asked for yet */
	int *target;  /* [ntargets], ranks, MPI_PROC_NULL among them */
	int nsums;
	struct zrecord_sum *sums; /* [ZRECORD_SUMS], NULL before the first collective */
	struct zrecord_comm *next;
};

/* NULL: the communicator could not be read, or no memory. */
struct zrecord_comm *zrecord_comm_find(MPI_Comm);
struct zrecord_comm *zrecord_comm_find_win(MPI_Win);
/* Fills target[]; false where the communicator has no topology. */
bool zrecord_comm_targets(struct zrecord_comm *);
/* Takes the entry out of the table. The caller decomposes its sums and frees it. NULL: no such entry. */
struct zrecord_comm *zrecord_comm_take(uint64_t handle);
struct zrecord_comm *zrecord_comm_take_any(void);
void zrecord_comm_free(struct zrecord_comm *);

#endif
