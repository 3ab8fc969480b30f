/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder knows of communicators and windows: which vrank a rank is, neighbours, and collectives that have
 * been added up but not yet decomposed. Found by handle, made with the first use, forgotten before the handle is freed.
 */
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
	uint64_t sends, units; /* of these calls, how many had bytes; and the sum of their units */
};
#define ZRECORD_SUMS 32 /* then they are decomposed, to make room */

struct zrecord_comm {
	int handle;	/* MPI_Comm or MPI_Win: MPICH never gives both the same number */
	int rank, size; /* mine, and of the local group */
	bool inter;
	int npeers;   /* that ranks in calls may name: the remote group of an intercommunicator, else size */
	int *vrank;   /* [npeers], -1: not in this world */
	int ntargets; /* destinations of neighbourhood collectives; -1: not asked for yet */
	int *target;  /* [ntargets], ranks, MPI_PROC_NULL among them */
	int nsums;
	struct zrecord_sum *sums; /* [ZRECORD_SUMS], NULL before the first collective */
	struct zrecord_comm *next;
};

/* NULL: not a communicator that could be looked at, or no memory. */
struct zrecord_comm *zrecord_comm_find(MPI_Comm);
struct zrecord_comm *zrecord_comm_find_win(MPI_Win);
/* Fills target[]; false where the communicator has no topology. */
bool zrecord_comm_targets(struct zrecord_comm *);
/* Takes it out of the table; the caller decomposes its sums and frees it. NULL: not known. */
struct zrecord_comm *zrecord_comm_take(int handle);
struct zrecord_comm *zrecord_comm_take_any(void);
void zrecord_comm_free(struct zrecord_comm *);

#endif
