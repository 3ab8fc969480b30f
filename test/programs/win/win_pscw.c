/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows between post, start, complete and wait: groups that differ between epochs, ranks that are one of the two
 * only, many epochs in a row, tests instead of waits, both orders. twin: one_sided=yes */
#include "../check.h"

#define SLOTS 64
static int memory[SLOTS];
static MPI_Win win;
static MPI_Group world;

static MPI_Group group_of(int n, const int *ranks)
{
	MPI_Group g;
	MPI_Group_incl(world, n, ranks, &g);
	return g;
}

static void finish(int by_test)
{
	int flag = 0;

	if (!by_test) {
		MPI_Win_wait(win);
		return;
	}
	while (!flag)
		MPI_Win_test(win, &flag);
}

/* Everybody to the rank so far ahead. */
static void shifted(int distance, int assert_post, int by_test)
{
	int to = (rank + distance) % size, from = (rank + size - distance) % size, value = 1000 * distance + rank;
	MPI_Group targets = group_of(1, &to), origins = group_of(1, &from);

	memory[0] = -1;
	MPI_Win_post(origins, assert_post, win);
	MPI_Win_start(targets, 0, win);
	MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
	finish(by_test);
	CHECK_INT(memory[0], 1000 * distance + from);
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Barrier(WORLD); /* MPICH only counts the ranks that have posted, so no other rank may post meanwhile */
}

/* All with all, with or without themselves. Members in descending order. */
static void all(int with_self, int nocheck)
{
	int ranks[SLOTS], n = 0, out[SLOTS], in[SLOTS];

	for (int r = size - 1; r >= 0; r--)
		if (r != rank || with_self)
			ranks[n++] = r;
	MPI_Group others = group_of(n, ranks);
	for (int i = 0; i < SLOTS; i++)
		memory[i] = rank, in[i] = -1, out[i] = 100 * i + rank;
	MPI_Win_post(others, nocheck ? MPI_MODE_NOCHECK : 0, win);
	if (nocheck)
		MPI_Barrier(WORLD);
	MPI_Win_start(others, nocheck ? MPI_MODE_NOCHECK : 0, win);
	for (int i = 0; i < n; i++) {
		MPI_Put(&out[ranks[i]], 1, MPI_INT, ranks[i], rank, 1, MPI_INT, win);
		MPI_Get(&in[ranks[i]], 1, MPI_INT, ranks[i], size, 1, MPI_INT, win);
		MPI_Accumulate(&out[1], 1, MPI_INT, ranks[i], size + 1, 1, MPI_INT, MPI_SUM, win);
	}
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	int sum = rank;
	for (int i = 0; i < n; i++) {
		CHECK_INT(memory[ranks[i]], 100 * rank + ranks[i]);
		CHECK_INT(in[ranks[i]], ranks[i]);
		sum += 100 + ranks[i];
	}
	CHECK_INT(memory[size + 1], sum);
	if (!with_self)
		CHECK_INT(memory[rank], rank);
	MPI_Group_free(&others);
	MPI_Barrier(WORLD);
}

/* Even ranks write, odd ones are written to: all pairs. */
static void sides(void)
{
	int even[SLOTS], odd[SLOTS], n[2] = {0, 0}, value = rank + 7;

	for (int r = 0; r < size; r++)
		(r % 2 ? odd : even)[n[r % 2]++] = r;
	MPI_Group evens = group_of(n[0], even), odds = group_of(n[1], odd);
	for (int epoch = 0; epoch < 10; epoch++) {
		value += epoch;
		if (rank % 2 == 0) {
			MPI_Win_start(odds, 0, win);
			for (int i = 0; i < n[1]; i++)
				MPI_Put(&value, 1, MPI_INT, odd[i], rank, 1, MPI_INT, win);
			MPI_Win_complete(win);
			continue;
		}
		MPI_Win_post(evens, 0, win);
		finish(epoch % 2);
		for (int i = 0; i < n[0]; i++) {
			int wanted = even[i] + 7 + epoch * (epoch + 1) / 2;
			CHECK_INT(memory[even[i]], wanted);
		}
	}
	MPI_Group_free(&evens);
	MPI_Group_free(&odds);
	MPI_Barrier(WORLD);
}

/* Epochs without operations, and without anybody. */
static void nobody(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, flag = 0;
	MPI_Group next = group_of(1, &to), before = group_of(1, &from);

	memory[0] = 17;
	MPI_Win_post(before, MPI_MODE_NOPUT, win);
	MPI_Win_start(next, 0, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
	MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
	MPI_Win_complete(win);
	MPI_Win_test(win, &flag);
	CHECK_INT(flag, 1);
	CHECK_INT(memory[0], 17);
	MPI_Group_free(&next);
	MPI_Group_free(&before);
	MPI_Barrier(WORLD);
}

/* An origin whose target posts late, and a target whose origin starts late. */
static void late(int target_first)
{
	int first = 0, last = size - 1, value = 99, token = 0;
	MPI_Group origin = group_of(1, &first), target = group_of(1, &last);

	if (rank == last) {
		if (!target_first)
			MPI_Recv(&token, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
		MPI_Win_post(origin, 0, win);
		if (target_first)
			MPI_Send(&token, 1, MPI_INT, 0, 1, WORLD);
		MPI_Win_wait(win);
		CHECK_INT(memory[2], 99);
		memory[2] = 0;
	} else if (rank == first) {
		if (target_first)
			MPI_Recv(&token, 1, MPI_INT, last, 1, WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(&token, 1, MPI_INT, last, 1, WORLD);
		MPI_Win_start(target, 0, win);
		MPI_Put(&value, 1, MPI_INT, last, 2, 1, MPI_INT, win);
		MPI_Win_complete(win);
	}
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_group(WORLD, &world);
	MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
	for (int round = 0; round < 3; round++)
		for (int distance = 1; distance <= size; distance++)
			shifted(distance % size ? distance : size, round == 2 ? MPI_MODE_NOSTORE : 0, round == 1);
	MPI_Barrier(WORLD);
	for (int i = 0; i < 4; i++)
		all(i % 2, i / 2);
	sides();
	nobody();
	late(0);
	late(1);
	MPI_Win_free(&win);
	MPI_Group_free(&world);
	return end();
}
