/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows with MPI_THREAD_MULTIPLE: every thread adds to all ranks in a window of its own by fences and locks, while
 * all of them fetch numbers from one window that they share, where none may come twice, and others send messages. twin:
 * endpoints=3
 */
#include "../check.h"

#include <pthread.h>

#define THREADS 3
#define TIMES 20

static MPI_Win own[THREADS], shared;
static MPI_Comm comm[THREADS];
static long *owned[THREADS], *counter;
static long fetched[THREADS][TIMES];

static void fence_and_add(int t)
{
	long one = 1;

	MPI_Win_fence(0, own[t]);
	for (int r = 0; r < size; r++)
		MPI_Accumulate(&one, 1, MPI_LONG, r, 0, 1, MPI_LONG, MPI_SUM, own[t]);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, own[t]);
}

static void lock_and_add(int t, int r)
{
	long seen;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, own[t]);
	MPI_Get(&seen, 1, MPI_LONG, r, 1, 1, MPI_LONG, own[t]);
	MPI_Win_flush(r, own[t]);
	seen++;
	MPI_Put(&seen, 1, MPI_LONG, r, 1, 1, MPI_LONG, own[t]);
	MPI_Win_unlock(r, own[t]);
}

static void *work(void *arg)
{
	const int t = (int)(long)arg;
	const long one = 1;
	int token = 0;

	for (int i = 0; i < TIMES; i++) {
		MPI_Fetch_and_op(&one, &fetched[t][i], MPI_LONG, 0, 0, MPI_SUM, shared);
		MPI_Win_flush(0, shared);
		if (i % 4 == 0)
			fence_and_add(t);
		lock_and_add(t, (rank + i) % size);
		MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, t, (rank + size - 1) % size, t, comm[t],
			MPI_STATUS_IGNORE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int provided, total = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (provided != MPI_THREAD_MULTIPLE)
		MPI_Abort(WORLD, 1);
	MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, WORLD, &counter, &shared);
	*counter = 0;
	for (int t = 0; t < THREADS; t++) {
		MPI_Comm_dup(WORLD, &comm[t]);
		MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, comm[t], &owned[t], &own[t]);
		owned[t][0] = owned[t][1] = 0;
	}
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, shared);
	for (long t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, work, (void *)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	MPI_Win_unlock_all(shared);

	/* every number once, in all ranks together */
	int n = size * THREADS * TIMES, *times = calloc((size_t)n, sizeof(int));
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < TIMES; i++) {
			CHECK(fetched[t][i] >= 0 && fetched[t][i] < n, "%ld was fetched", fetched[t][i]);
			if (fetched[t][i] >= 0 && fetched[t][i] < n)
				times[fetched[t][i]]++;
			CHECK(i == 0 || fetched[t][i] > fetched[t][i - 1], "%ld after %ld", fetched[t][i],
				fetched[t][i - 1]);
		}
	MPI_Allreduce(MPI_IN_PLACE, times, n, MPI_INT, MPI_SUM, WORLD);
	for (int i = 0; i < n; i++)
		total += times[i] == 1;
	CHECK_INT(total, n);
	free(times);
	MPI_Barrier(WORLD);
	for (int t = 0; t < THREADS; t++) {
		CHECK_INT(owned[t][0], (TIMES + 3) / 4 * size);
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, own[t]);
		CHECK_INT(owned[t][1], TIMES);
		MPI_Win_unlock(rank, own[t]);
		MPI_Win_free(&own[t]);
		MPI_Comm_free(&comm[t]);
	}
	MPI_Win_free(&shared);
	return end();
}
