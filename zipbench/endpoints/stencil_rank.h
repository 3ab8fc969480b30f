/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of "zipbench stencil", and what all processes share. */
#ifndef ZIPBENCH_ENDPOINTS_STENCIL_RANK_H
#define ZIPBENCH_ENDPOINTS_STENCIL_RANK_H

#include <pthread.h>

#include "zipbench/endpoints/options.h"

/* Ranks are a ring; each has rows of the grid, and its threads columns of these rows. A thread exchanges its columns'
 * first and last row with the same thread of the rank above and of the one below (paper, Figure 13). */
enum { STENCIL_UP, STENCIL_DOWN, STENCIL_WAYS };

/* How a neighbour reaches a thread. [way]: the thread's queue pair in that direction, and its memory for halos that
 * come from there. */
struct stencil_card {
	uint32_t qpn[STENCIL_WAYS], rkey[STENCIL_WAYS];
	uint64_t addr[STENCIL_WAYS];
};

struct stencil_shared {		 /* by all processes; ranks x threads is at most 256 */
	pthread_barrier_t all;	 /* threads of all processes */
	pthread_barrier_t ranks; /* one thread of each process */
	struct zerr err;	 /* of the first process that fails */
	_Atomic int failed;
	struct stencil_card card[256];
	double exchange_s[256]; /* of each thread */
	uint64_t messages[256];
	double grid[]; /* size x size: the result */
};

struct stencil_job {
	const struct bench_options *o;
	enum zep_category category;
	unsigned ranks, threads; /* threads of each rank */
	struct stencil_shared *shared;
};

/* The endpoints that each rank builds. */
struct zep_plan stencil_rank_plan(const struct stencil_job *);
double stencil_rank_start_value(unsigned row, unsigned column);
/* One step for a point, from the points above, below, left and right of it. */
static inline double stencil_rank_point(double up, double down, double left, double right)
{
	return 0.25 * (up + down + left + right);
}
/* Runs one rank, in a process of its own. Returns the exit status; shared->err has the reason. */
int stencil_rank(const struct stencil_job *, unsigned rank);

#endif
