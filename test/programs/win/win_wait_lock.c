/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of one rank in an epoch of MPI_Win_lock_all access a rank that a third rank has locked exclusively.
 * One thread asks for the lock, and the other has to wait for it, too: both see what the third rank wrote last.
 */
#include "../check.h"

#include <pthread.h>
#include <time.h>

#define THREADS 2
#define ROUNDS 6
#define UNDER_WAY (-1)

static MPI_Win win;
static int *mine;
static int seen[THREADS];

/* Different calls in turn: each one has to wait. */
static void *access_target(void *arg)
{
	const int t = (int)(long)arg, nothing = 0;

	if (t == 0)
		MPI_Get(&seen[t], 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
	else
		MPI_Get_accumulate(&nothing, 1, MPI_INT, &seen[t], 1, MPI_INT, size - 1, 0, 1, MPI_INT, MPI_NO_OP, win);
	MPI_Win_flush(size - 1, win);
	return NULL;
}

static void look(int round)
{
	pthread_t thread[THREADS];

	MPI_Recv(NULL, 0, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE);
	MPI_Win_lock_all(0, win);
	for (long t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, access_target, (void *)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	MPI_Win_unlock_all(win);
	for (int t = 0; t < THREADS; t++)
		CHECK_INT(seen[t], round);
}

/* Keeps the target locked for a while, in which the threads come. */
static void change(int round)
{
	const struct timespec while_locked = {0, 30000000};
	const int under_way = UNDER_WAY;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
	MPI_Put(&under_way, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
	MPI_Win_flush(size - 1, win);
	MPI_Send(NULL, 0, MPI_INT, 0, 0, WORLD);
	nanosleep(&while_locked, NULL);
	MPI_Put(&round, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
	MPI_Win_unlock(size - 1, win);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (provided != MPI_THREAD_MULTIPLE || size < 3)
		MPI_Abort(WORLD, 1);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &mine, &win);
	*mine = 0;
	MPI_Barrier(WORLD);
	for (int round = 1; round <= ROUNDS; round++) {
		if (rank == 0)
			look(round);
		else if (rank == 1)
			change(round);
		MPI_Barrier(WORLD);
	}
	MPI_Win_free(&win);
	return end();
}
