/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of collectives, and their names. */
#ifndef ZIP_TEST_KINDS_H
#define ZIP_TEST_KINDS_H

enum kind {
	BARRIER,
	BCAST,
	GATHER,
	GATHERV,
	SCATTER,
	SCATTERV,
	ALLGATHER,
	ALLGATHERV,
	ALLTOALL,
	ALLTOALLV,
	ALLTOALLW,
	REDUCE,
	ALLREDUCE,
	REDUCE_SCATTER_BLOCK,
	REDUCE_SCATTER,
	SCAN,
	EXSCAN,
	NEIGHBOR_ALLGATHER,
	NEIGHBOR_ALLGATHERV,
	NEIGHBOR_ALLTOALL,
	NEIGHBOR_ALLTOALLV,
	NEIGHBOR_ALLTOALLW,
	KINDS
};
static const char *const kind_names[KINDS] = {"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv",
	"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter_block",
	"reduce_scatter", "scan", "exscan", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
	"neighbor_alltoallv", "neighbor_alltoallw"};

#endif
