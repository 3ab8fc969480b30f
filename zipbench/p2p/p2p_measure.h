/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The benchmarks of zipbench-p2p for one size of messages. A pair is a rank of the first `pairs` ranks, which sends,
 * and one of the last `pairs` ranks. MPI calls are those of a plain program: blocking in MPI.
 */
#ifndef ZIPBENCH_P2P_P2P_MEASURE_H
#define ZIPBENCH_P2P_P2P_MEASURE_H

#include <mpi.h>
#include <stdbool.h>

#include "zipbench/p2p/p2p_plan.h"

struct p2p_side { /* one rank of a pair */
	const struct p2p_plan *plan;
	MPI_Comm all; /* the ranks of all pairs; the senders come first. For barriers and sums, not for messages */
	int peer;     /* in MPI_COMM_WORLD */
	bool sends;   /* the first rank of the pair */
	size_t bytes; /* of a message */
	int iterations, warmup;
	uint8_t *send, *receive; /* [window * bytes] each */
	MPI_Request *request;	 /* [2 * window] */
	MPI_Status *status;	 /* the same; nobody reads them, but gcc objects to MPI_STATUSES_IGNORE of MPICH */
	uint64_t wrong;		 /* bytes */
	uint32_t turn;		 /* iterations that were checked so far */
	double work;		 /* of overlap: the amount of an iteration */
};

/* Measures one size on all ranks of the pairs, which must have the buffers. result, on the first rank: a number for
 * each quantity of the benchmark. side->wrong: what this rank received and should not have. */
void p2p_measure(struct p2p_side *, const struct p2p_bench *, double result[P2P_QUANTITIES_MAX]);

#endif
