/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, and waiting in MPI or in a loop that yields, for the MPI programs of this folder. These are plain MPI
 * programs, compiled as a user compiles them; nothing of ours is linked to them. */
#ifndef ZIP_BENCH_MPI_BENCH_H
#define ZIP_BENCH_MPI_BENCH_H

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

/* If set, nothing blocks in MPI: after IDLE_TESTS vain tests, each further test is followed by sched_yield. */
static int yielding;
#define IDLE_TESTS 20 /* a message from another core arrives within a few tests */

static inline void wait_all(int n, MPI_Request *requests)
{
	int done = 0;

	if (!yielding) {
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
		return;
	}
	for (int idle = 0; MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE), !done; idle++)
		if (idle > IDLE_TESTS)
			sched_yield();
}

static inline void *memory(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(p, 1, bytes);
	return p;
}

#endif
