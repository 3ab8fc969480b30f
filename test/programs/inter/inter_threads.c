/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make intercommunicators at the same time, each from communicators of its own, and use them. twin:
 * endpoints=3 */
#include <pthread.h>

#include "../check.h"

#define THREADS 4
#define ROUNDS 6

static MPI_Comm whole[THREADS], half[THREADS];
static int wrongs[THREADS];

static void *work(void *arg)
{
	int t = (int)(intptr_t)arg, upper = rank >= size / 2;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Comm inter, both;
		int n, me, sum = 0;
		MPI_Intercomm_create(half[t], 0, whole[t], upper ? 0 : size / 2, t, &inter);
		MPI_Comm_remote_size(inter, &n);
		wrongs[t] += n != (upper ? size / 2 : size - size / 2);
		MPI_Intercomm_merge(inter, upper, &both);
		MPI_Comm_rank(both, &me);
		wrongs[t] += me != rank;
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
		wrongs[t] += sum != size * (size - 1) / 2;
		MPI_Comm_free(&both);
		MPI_Comm_free(&inter);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	for (int t = 0; t < THREADS; t++) {
		MPI_Comm_dup(WORLD, &whole[t]);
		MPI_Comm_split(WORLD, rank >= size / 2, rank, &half[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
	for (int t = 0; t < THREADS; t++) {
		pthread_join(thread[t], NULL);
		CHECK_INT(wrongs[t], 0);
		MPI_Comm_free(&half[t]);
		MPI_Comm_free(&whole[t]);
	}
	return end();
}
