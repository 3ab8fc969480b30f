/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and locks: the holder of an exclusive lock is alone; shared locks, lock_all, flushes of all kinds, several
 * targets and windows, the rank itself. twin: one_sided=yes endpoints=3
 */
#include "../check.h"

#define INTS 256
static int *memory;
static MPI_Win win;

static void clear(void)
{
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	memset(memory, 0, INTS * sizeof(int));
	MPI_Win_unlock(rank, win);
	MPI_Barrier(WORLD);
}

/* Sees the operations of all ranks; no rank goes on before all have looked. */
static int look(int i)
{
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	int value = memory[i];
	MPI_Win_unlock(rank, win);
	return value;
}

/* Increments in two steps: some are lost if two ranks have the lock. n ints, all alike. */
static void counter(int target, int n, int times)
{
	int value[INTS];

	clear();
	for (int i = 0; i < times; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
		MPI_Get(value, n, MPI_INT, target, 0, n, MPI_INT, win);
		MPI_Win_flush(target, win);
		for (int k = n - 1; k >= 0; k--) {
			CHECK(value[k] == value[0], "counter at %d: %d is %d, not %d", target, k, value[k], value[0]);
			value[k]++;
		}
		MPI_Put(value, n, MPI_INT, target, 0, n, MPI_INT, win);
		MPI_Win_unlock(target, win);
	}
	MPI_Barrier(WORLD);
	for (int k = 0; k < n && rank == target; k++)
		CHECK_INT(look(k), times * size);
}

/* Ranks with shared locks never see half of what one with an exclusive lock does. */
static void readers(int target)
{
	int value[INTS], last = 0;

	clear();
	for (int i = 0; i < 9; i++) {
		int writes = (i + rank) % 3 == 0;
		MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
		if (writes) {
			MPI_Get(value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
			MPI_Win_flush_local(target, win);
			for (int k = INTS - 1; k >= 0; k--)
				value[k] = value[0] + 1;
			for (int k = 0; k < INTS; k += 32)
				MPI_Put(value + k, 32, MPI_INT, target, k, 32, MPI_INT, win);
		} else {
			MPI_Get(value, INTS, MPI_INT, target, 0, INTS, MPI_INT, win);
		}
		MPI_Win_unlock(target, win);
		for (int k = 0; k < INTS; k++)
			CHECK(value[k] == value[0], "reader at %d: %d is %d, not %d", target, k, value[k], value[0]);
		CHECK(value[0] >= last, "%d after %d", value[0], last);
		last = value[0];
	}
	MPI_Barrier(WORLD);
}

/* Sums under shared locks. */
static void shared_sums(int target)
{
	int one = 1;

	clear();
	for (int i = 0; i < 8; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
		MPI_Accumulate(&one, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win);
		MPI_Accumulate(&rank, 1, MPI_INT, target, 2, 1, MPI_INT, MPI_SUM, win);
		MPI_Win_unlock(target, win);
	}
	MPI_Barrier(WORLD);
	if (rank == target) {
		CHECK_INT(look(1), 8 * size);
		CHECK_INT(look(2), 8 * size * (size - 1) / 2);
	}
}

/* lock_all: each rank writes to all ranks, and reads the values from other ranks after a flush and a barrier. */
static void everybody(int how)
{
	int out = 0, in[INTS];

	clear();
	MPI_Win_lock_all(how == 3 ? MPI_MODE_NOCHECK : 0, win);
	for (int r = 0; r < size; r++) {
		out = 100 * r + rank;
		MPI_Put(&out, 1, MPI_INT, r, rank, 1, MPI_INT, win);
		if (how % 2)
			MPI_Win_flush_local(r, win); /* out can be used again */
		else
			MPI_Win_flush(r, win);
	}
	if (how == 1)
		for (int r = 0; r < size; r++)
			MPI_Win_flush(r, win);
	else
		MPI_Win_flush_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_sync(win);
	for (int r = 0; r < size; r++)
		CHECK_INT(memory[r], 100 * rank + r);
	for (int r = 0; r < size; r++)
		MPI_Get(&in[r], 1, MPI_INT, r, (rank + 1) % size, 1, MPI_INT, win);
	MPI_Win_flush_local_all(win);
	for (int r = 0; r < size; r++)
		CHECK_INT(in[r], 100 * r + (rank + 1) % size);
	MPI_Win_unlock_all(win);
}

/* Store here, signal by a message, get there. */
static void stores(void)
{
	int next = (rank + 1) % size, left = (rank + size - 1) % size, in = -1, token = 0;

	clear();
	MPI_Win_lock_all(0, win);
	for (int i = 1; i <= 10; i++) {
		memory[5] = 1000 * i + rank;
		MPI_Win_sync(win);
		MPI_Sendrecv(&token, 1, MPI_INT, left, 3, &token, 1, MPI_INT, next, 3, WORLD, MPI_STATUS_IGNORE);
		MPI_Get(&in, 1, MPI_INT, next, 5, 1, MPI_INT, win);
		MPI_Win_flush(next, win);
		CHECK_INT(in, 1000 * i + next);
		MPI_Sendrecv(&token, 1, MPI_INT, next, 4, &token, 1, MPI_INT, left, 4, WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Win_unlock_all(win);
}

/* Two targets at once, in ascending order so that no ranks wait in a circle; one of two windows each. */
static void two_at_once(void)
{
	int *other, value[2];
	MPI_Win second;

	/* not of one int: MPICH 4.0.2 may see small memory of other ranks at a wrong place */
	MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, WORLD, &other, &second);
	*other = 0;
	clear();
	for (int i = 0; i < 10; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second);
		MPI_Get(&value[0], 1, MPI_INT, 0, 9, 1, MPI_INT, win);
		MPI_Get(&value[1], 1, MPI_INT, size - 1, 9, 1, MPI_INT, win);
		MPI_Win_flush_all(win);
		CHECK_INT(value[0], value[1]);
		value[0]++;
		MPI_Put(&value[0], 1, MPI_INT, 0, 9, 1, MPI_INT, win);
		MPI_Put(&value[0], 1, MPI_INT, size - 1, 9, 1, MPI_INT, win);
		MPI_Put(&value[0], 1, MPI_INT, 1, 0, 1, MPI_INT, second);
		MPI_Win_unlock(1, second);
		MPI_Win_unlock(size - 1, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(WORLD);
	if (rank == 0 || rank == size - 1)
		CHECK_INT(look(9), 10 * size);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, second);
	if (rank == 1)
		CHECK_INT(*other, 10 * size);
	MPI_Win_unlock(rank, second);
	MPI_Win_free(&second);
}

/* Large ones, for which the origin's memory can be used again after the unlock. */
static void large(void)
{
	enum { N = 1 << 18 };
	unsigned char *there, *here = malloc(N);
	MPI_Win wide;
	int next = (rank + 1) % size, left = (rank + size - 1) % size;

	MPI_Win_allocate(N, 1, MPI_INFO_NULL, WORLD, &there, &wide);
	MPI_Barrier(WORLD);
	for (int i = 0; i < 4; i++) {
		MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, next, 0, wide);
		fill(here, N, (uint32_t)(10 * rank + i));
		MPI_Put(here, N, MPI_BYTE, next, 0, N, MPI_BYTE, wide);
		MPI_Win_unlock(next, wide);
		memset(here, 0, N);
		MPI_Win_lock(MPI_LOCK_SHARED, next, 0, wide);
		MPI_Get(here, N, MPI_BYTE, next, 0, N, MPI_BYTE, wide);
		MPI_Win_unlock(next, wide);
		CHECK(filled(here, N, (uint32_t)(10 * rank + i)), "large, round %d", i);
		MPI_Barrier(WORLD);
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wide);
		CHECK(filled(there, N, (uint32_t)(10 * left + i)), "large, round %d: here", i);
		MPI_Win_unlock(rank, wide);
		MPI_Barrier(WORLD);
	}
	MPI_Win_free(&wide);
	free(here);
}

/* Locks with MODE_NOCHECK do not conflict, if all ranks see to it. */
static void unchecked(void)
{
	int token = 0, value;

	clear();
	if (rank > 0)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 5, WORLD, MPI_STATUS_IGNORE);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, win);
	MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_flush(0, win);
	CHECK_INT(value, rank);
	value++;
	MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock(0, win);
	if (rank < size - 1)
		MPI_Send(&token, 1, MPI_INT, rank + 1, 5, WORLD);
	MPI_Barrier(WORLD);
	if (rank == 0)
		CHECK_INT(look(0), size);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Win_allocate(INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &memory, &win);
	for (int target = 0; target < size; target++) {
		counter(target, 1, 6);
		counter(target, INTS, 6);
		readers(target);
		shared_sums(target);
	}
	for (int how = 0; how < 4; how++)
		everybody(how);
	stores();
	if (size > 2)
		two_at_once();
	large();
	unchecked();
	MPI_Win_free(&win);
	return end();
}
