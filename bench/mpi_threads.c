/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of two ranks under MPI_THREAD_MULTIPLE. Each thread has a partner in the other rank and a communicator of its
 * own. All pairs exchange 8 bytes there and back at the same time, in blocking calls. Prints "name: messages a second"
 * for 1, 2, 4, ... threads.
 *
 *     mpi_threads THREADS [ROUND_TRIPS]
 */
#include <pthread.h>
#include <stdint.h>

#include "bench/mpi_bench.h"

#define THREADS_MAX 64

static int me, trips;
static MPI_Comm comms[THREADS_MAX];

static void *play(void *arg)
{
	char bytes[8] = {0};
	MPI_Comm comm = comms[(intptr_t)arg];
	for (int i = 0; i < 2 * trips; i++) {
		if (i % 2 == me)
			MPI_Send(bytes, sizeof(bytes), MPI_BYTE, 1 - me, 1, comm);
		else
			MPI_Recv(bytes, sizeof(bytes), MPI_BYTE, 1 - me, 1, comm, MPI_STATUS_IGNORE);
	}
	return NULL;
}

static void measure(int n)
{
	pthread_t threads[THREADS_MAX];
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	for (intptr_t t = 1; t < n; t++)
		if (pthread_create(&threads[t], NULL, play, (void *)t) != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
	play((void *)(intptr_t)0);
	for (int t = 1; t < n; t++)
		pthread_join(threads[t], NULL);
	double took = MPI_Wtime() - start;
	if (me == 0)
		printf("%d threads messages/s: %.0f\n", n, 2.0 * n * trips / took);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 0, provided, size;
	trips = argc > 2 ? atoi(argv[2]) : 1000;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (most < 1 || most > THREADS_MAX || trips < 1 || size != 2 || provided != MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "mpi_threads: two ranks, MPI_THREAD_MULTIPLE and THREADS of 1 to %d\n", THREADS_MAX);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int t = 0; t < most; t++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
	for (int n = 1; n <= most; n *= 2)
		measure(n);
	for (int t = 0; t < most; t++)
		MPI_Comm_free(&comms[t]);
	MPI_Finalize();
	return 0;
}
