/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of "zipbench stencil", and what all of them share. */
#ifndef ZIPBENCH_STENCIL_H
#define ZIPBENCH_STENCIL_H

#include <pthread.h>

#include "zipbench/options.h"

/* Ranks are a ring; each has rows of the grid, and its threads columns of these rows. A thread exchanges its columns'
 * first and last row with the same thread of the rank above and of the one below (paper, Figure 13). */
enum { STENCIL_UP, STENCIL_DOWN, STENCIL_WAYS };

/* How a peer reaches a thread. [way]: its queue pair towards there, and its memory for halos that come from there. */
struct stencil_card {
	uint32_t qpn[STENCIL_WAYS], rkey[STENCIL_WAYS];
	uint64_t addr[STENCIL_WAYS];
};

struct stencil_shared {		 /* by all processes */
	pthread_barrier_t all;	 /* threads of all processes */
	pthread_barrier_t ranks; /* one thread of each process */
	struct zerr err;	 /* of the first that fails */
	_Atomic int failed;
	struct stencil_card card[256];
	double exchange_s[256]; /* of each thread */
	uint64_t messages[256];
	double grid[]; /* what has been computed in the end: size x size */
};

struct stencil_job {
	const struct bench_options *o;
	enum zep_category category;
	unsigned ranks, threads; /* threads of each rank */
	struct stencil_shared *shared;
};

/* What each rank builds. */
struct zep_plan stencil_plan(const struct stencil_job *);
double stencil_start_value(unsigned row, unsigned column);
/* One step for a point from the ones above, below, left and right of it. */
static inline double stencil_point(double up, double down, double left, double right)
{
	return 0.25 * (up + down + left + right);
}
/* Runs rank `rank`, in a process of its own. The exit status; the reason in shared->err. */
int stencil_rank(const struct stencil_job *, unsigned rank);

#endif
