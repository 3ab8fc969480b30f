/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows between post, start, complete and wait where several targets have posted to an origin that starts with one of
 * them: MPICH 4.0.2 waits for ever, as it counts how many have posted, and not who. twin: native=no
 */
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

/* One rank after the other is the target of all ranks, and its exposure does not wait for earlier ones. */
static void in_turn(void)
{
	int others[SLOTS], n = 0;

	for (int r = 0; r < size; r++)
		if (r != rank)
			others[n++] = r;
	MPI_Group rest = group_of(n, others);
	MPI_Win_post(rest, MPI_MODE_NOSTORE, win);
	for (int r = 0; r < size; r++) {
		int value = 10 * r + rank;
		if (r == rank)
			continue;
		MPI_Group target = group_of(1, &r);
		MPI_Win_start(target, 0, win);
		MPI_Put(&value, 1, MPI_INT, r, rank, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Group_free(&target);
	}
	MPI_Win_wait(win);
	for (int i = 0; i < n; i++)
		CHECK_INT(memory[others[i]], 10 * rank + others[i]);
	MPI_Group_free(&rest);
}

/* Everybody to the rank so far ahead, and to the next one as soon as that is done. */
static void shifted(int distance)
{
	int to = (rank + distance) % size, from = (rank + size - distance) % size, value = 1000 * distance + rank;
	MPI_Group targets = group_of(1, &to), origins = group_of(1, &from);

	memory[0] = -1;
	MPI_Win_post(origins, 0, win);
	MPI_Win_start(targets, 0, win);
	MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	CHECK_INT(memory[0], 1000 * distance + from);
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
}

/* All ranks but 0 post to it, and it starts with one after the other, the last one first; twice. */
static void backwards(void)
{
	int zero = 0;
	MPI_Group origin = group_of(1, &zero);

	for (int epoch = 1; epoch <= 2; epoch++) {
		if (rank > 0) {
			MPI_Win_post(origin, 0, win);
			MPI_Win_wait(win);
			CHECK_INT(memory[3], 10 * rank + epoch);
			continue;
		}
		for (int r = size - 1; r > 0; r--) {
			int value = 10 * r + epoch;
			MPI_Group target = group_of(1, &r);
			MPI_Win_start(target, 0, win);
			MPI_Put(&value, 1, MPI_INT, r, 3, 1, MPI_INT, win);
			MPI_Win_complete(win);
			MPI_Group_free(&target);
		}
	}
	MPI_Group_free(&origin);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_group(WORLD, &world);
	MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
	for (int round = 0; round < 5; round++)
		for (int distance = 1; distance <= size; distance++)
			shifted(distance);
	MPI_Barrier(WORLD);
	in_turn();
	MPI_Barrier(WORLD);
	backwards();
	MPI_Win_free(&win);
	MPI_Group_free(&world);
	return end();
}
