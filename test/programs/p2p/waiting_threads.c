/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_THREAD_MULTIPLE: many threads that wait at the same time, in all ways of waiting, for messages from every rank
 * and for collectives, each on a communicator of its own; one of them comes late now and then, and one waits all the
 * time for what comes last. timeout: natively all spin. twin: timeout=100 layouts=2+2,1+3,1+1+2 tcp=yes endpoints=3 */
#include <pthread.h>
#include <unistd.h>

#include "../check.h"

#define THREADS 6
#define ROUNDS 24
#define RANKS_MAX 8
#define LATE_US 3000

struct note {
	int rank, thread, round;
};

static MPI_Comm comms[THREADS];
static int wrongs[THREADS];

static void compare(const struct note *got, int from, int t, int round)
{
	wrongs[t] += got->rank != from || got->thread != t || got->round != round;
}

static void all_to_all(int t, int round, uint32_t *seed)
{
	struct note mine = {rank, t, round}, in[RANKS_MAX];
	MPI_Request r[2 * RANKS_MAX];
	MPI_Status st[2 * RANKS_MAX];
	int n = 0, how = (int)(next_random(seed) % 3), indices[2 * RANKS_MAX];
	for (int p = 0; p < size; p++)
		MPI_Irecv(&in[p], 3, MPI_INT, p, round, comms[t], &r[n++]);
	for (int p = 0; p < size; p++)
		MPI_Isend(&mine, 3, MPI_INT, p, round, comms[t], &r[n++]);
	for (int left = n, some; how > 0 && left > 0; left -= some) {
		some = 1;
		if (how == 1)
			MPI_Waitany(n, r, indices, st);
		else
			MPI_Waitsome(n, r, &some, indices, st);
	}
	MPI_Waitall(n, r, st);
	for (int p = 0; p < size; p++)
		compare(&in[p], p, t, round);
}

static void shift(int t, int round, uint32_t *seed)
{
	int step = 1 + round % (size - 1), to = (rank + step) % size, from = (rank + size - step) % size;
	struct note mine = {rank, t, round}, in = {0};
	MPI_Request r;
	MPI_Status st;
	MPI_Message message;
	MPI_Issend(&mine, 3, MPI_INT, to, round, comms[t], &r);
	if (next_random(seed) % 2) {
		MPI_Probe(MPI_ANY_SOURCE, round, comms[t], &st);
		MPI_Recv(&in, 3, MPI_INT, st.MPI_SOURCE, round, comms[t], &st);
	} else {
		MPI_Mprobe(MPI_ANY_SOURCE, round, comms[t], &message, &st);
		MPI_Mrecv(&in, 3, MPI_INT, &message, &st);
	}
	wrongs[t] += st.MPI_SOURCE != from;
	compare(&in, from, t, round);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void together(int t)
{
	int sum = 0;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
	wrongs[t] += sum != size * (size - 1) / 2;
	MPI_Barrier(comms[t]);
}

static void *work(void *arg)
{
	int t = (int)(intptr_t)arg;
	uint32_t seed = (uint32_t)(rank * THREADS + t + 1);
	for (int i = 0; i < ROUNDS; i++) {
		if (t == 1 && i % 8 == 5)
			usleep(LATE_US);
		if (i % 3 == 0)
			all_to_all(t, i, &seed);
		else if (i % 3 == 1)
			shift(t, i, &seed);
		else
			together(t);
	}
	return NULL;
}

static void *wait_for_the_end(void *arg)
{
	int last = -1;
	MPI_Recv(&last, 1, MPI_INT, (rank + 1) % size, 4711, WORLD, MPI_STATUS_IGNORE);
	*(int *)arg += last != (rank + 1) % size;
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t threads[THREADS], waiting;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	printf("rank %d: thread level %d\n", rank, provided);
	if (provided == MPI_THREAD_MULTIPLE && size <= RANKS_MAX) {
		for (int t = 0; t < THREADS; t++)
			MPI_Comm_dup(WORLD, &comms[t]);
		pthread_create(&waiting, NULL, wait_for_the_end, &errors);
		for (intptr_t t = 0; t < THREADS; t++)
			pthread_create(&threads[t], NULL, work, (void *)t);
		for (int t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
		MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 4711, WORLD);
		pthread_join(waiting, NULL);
		for (int t = 0; t < THREADS; t++) {
			CHECK_INT(wrongs[t], 0);
			MPI_Comm_free(&comms[t]);
		}
	}
	return end();
}
