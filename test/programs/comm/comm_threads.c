/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make communicators and use collectives at the same time, each on a communicator of its own.
 * twin: timeout=60 */
#include <pthread.h>

#include "../check.h"

#define THREADS 4
#define ROUNDS 8

static MPI_Comm mine[THREADS];
static int wrongs[THREADS];

static void *work(void *arg)
{
	int t = (int)(intptr_t)arg, n = size;
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Comm c, d;
		MPI_Group g, h;
		MPI_Request q;
		int value = rank == i % n ? 100 * t + i : -1, sum = 0, reversed[64], r;
		MPI_Bcast(&value, 1, MPI_INT, i % n, mine[t]);
		wrongs[t] += value != 100 * t + i;
		MPI_Comm_split(mine[t], (rank + t) % 2, -rank, &c);
		MPI_Comm_idup(mine[t], &d, &q);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, c);
		wrongs[t] += sum != (n - 1) - ((n - 1) % 2 != rank % 2);
		MPI_Comm_free(&c);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		for (int k = 0; k < n; k++)
			reversed[k] = n - 1 - k;
		MPI_Comm_group(WORLD, &g);
		MPI_Group_incl(g, n, reversed, &h);
		MPI_Comm_create_group(WORLD, h, t, &c); /* all threads on the world: told apart by the tag */
		MPI_Comm_rank(c, &r);
		wrongs[t] += r != n - 1 - rank;
		value = t;
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, c);
		wrongs[t] += sum != t * n;
		MPI_Group_free(&g);
		MPI_Group_free(&h);
		MPI_Comm_free(&c);
		MPI_Barrier(d);
		MPI_Comm_free(&d);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t thread[THREADS];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_dup(WORLD, &mine[t]);
	if (provided == MPI_THREAD_MULTIPLE) {
		for (int t = 0; t < THREADS; t++)
			pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
		for (int t = 0; t < THREADS; t++)
			pthread_join(thread[t], NULL);
	}
	for (int t = 0; t < THREADS; t++) {
		CHECK_INT(wrongs[t], 0);
		MPI_Comm_free(&mine[t]);
	}
	return end();
}
