/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of a recorded graph: how long the ranks ran, and how much of it they spent in MPI, by kind of call. */
#ifndef ZIP_MAPPER_SHOW_TIME_H
#define ZIP_MAPPER_SHOW_TIME_H

#include <stdio.h>

#include "common/graph/graph.h"

/* One row of the table: a kind of time over all ranks. */
struct show_time {
	const char *name;
	uint64_t calls;
	double least, mean, most; /* seconds of a rank */
	double share;		  /* of the time of all runs; 1: all of it. Threads can make it larger */
};

/* The run, the time in MPI, the waiting for other clusters. name: "run", "in MPI", "bridge". The graph has times. */
void show_time_sums(const struct zgraph *, struct show_time *run, struct show_time *mpi, struct show_time *bridge);
/* The kinds of calls that took time, the longest first. Returns their number. */
int show_time_calls(const struct zgraph *, struct show_time out[ZGRAPH_SPANS]);
/* Prints the table and a sentence about it. Nothing for a graph without times. */
void show_time_print(FILE *, const struct zgraph *);

#endif
