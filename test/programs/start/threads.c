/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads that talk to every rank at once, one communicator or tag each, and collectives beside
 * them. twin: tcp=yes endpoints=3
 */
#include "../check.h"
#include <pthread.h>

#define THREADS 3
#define ROUNDS 25

static MPI_Comm comms[THREADS];
static int bad[THREADS + 1];

static void *talk(void *arg)
{
	int t = (int)(intptr_t)arg;
	static __thread int out[6000], in[6000];
	for (int i = 0; i < ROUNDS; i++) {
		int step = 1 + i % (size > 1 ? size - 1 : 1), len = i % 6 == 5 ? 6000 : 10;
		int to = (rank + step) % size, from = (rank + size - step) % size;
		MPI_Request r[2];
		MPI_Status st[2];
		for (int k = 0; k < len; k++)
			out[k] = rank * 1000 + t * 100 + i;
		MPI_Irecv(in, 6000, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, t * 100 + i, WORLD, &r[0]);
		MPI_Isend(out, len, MPI_INT, to, t * 100 + i, WORLD, &r[1]);
		if (i % 3)
			MPI_Waitall(2, r, st);
		else
			for (int flag = 0; !flag;)
				MPI_Testall(2, r, &flag, st);
		bad[t] += in[0] != from * 1000 + t * 100 + i || in[len - 1] != in[0] || st[0].MPI_SOURCE != from;
		if (i % 5 == 0) {
			int sum;
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
			bad[t] += sum != size * (size - 1) / 2;
		}
		/* a message to oneself in another thread's time */
		int v = -1;
		MPI_Sendrecv(&i, 1, MPI_INT, rank, 900 + t, &v, 1, MPI_INT, rank, 900 + t, WORLD, MPI_STATUS_IGNORE);
		bad[t] += v != i;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t th[THREADS];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	printf("rank %d: thread level %d\n", rank, provided);
	if (provided == MPI_THREAD_MULTIPLE) {
		for (int t = 0; t < THREADS; t++)
			MPI_Comm_dup(WORLD, &comms[t]);
		for (intptr_t t = 0; t < THREADS; t++)
			pthread_create(&th[t], NULL, talk, (void *)t);
		for (int t = 0; t < THREADS; t++)
			pthread_join(th[t], NULL);
		for (int t = 0; t < THREADS; t++) {
			CHECK_INT(bad[t], 0);
			MPI_Comm_free(&comms[t]);
		}
		/* one thread waits for what another one sends from the same process */
		int got = -1;
		MPI_Request r;
		MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, 5000, WORLD, &r);
		MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 5000, WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK_INT(got, (rank + 1) % size);
	}
	return end();
}
