/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes from anywhere, and then a receive with the same wildcards: it gets the message that was probed, whether others
 * come from far and near meanwhile. The standard promises it only for the source that the status names; programs count
 * on more. */
#include "../check.h"

#define ROUNDS 300

static int buf[64];

/* All that comes from the others, in the order in which it is found. */
static void take(int messages, int tag, int *sum)
{
	for (int i = 0; i < messages; i++) {
		MPI_Status seen, got;
		int flag = 0, count;
		if (i % 3 == 0)
			MPI_Probe(MPI_ANY_SOURCE, tag, WORLD, &seen);
		else
			while (!flag)
				MPI_Iprobe(MPI_ANY_SOURCE, tag, WORLD, &flag, &seen);
		if (i % 5 == 0) { /* asked again it says the same */
			MPI_Iprobe(MPI_ANY_SOURCE, tag, WORLD, &flag, &got);
			CHECK_INT(flag, 1);
			CHECK_INT(got.MPI_SOURCE, seen.MPI_SOURCE);
		}
		MPI_Get_count(&seen, MPI_INT, &count);
		MPI_Recv(buf, count, MPI_INT, MPI_ANY_SOURCE, tag, WORLD, &got);
		CHECK_INT(got.MPI_SOURCE, seen.MPI_SOURCE);
		CHECK_INT(got.MPI_TAG, seen.MPI_TAG);
		MPI_Get_count(&got, MPI_INT, &flag);
		CHECK_INT(flag, count);
		CHECK_INT(count, 1 + got.MPI_SOURCE);
		CHECK_INT(buf[0], sum[got.MPI_SOURCE]);
		sum[got.MPI_SOURCE]++;
	}
}

/* Several are probed, each by its tag, before the first one is received. */
static void take_later(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		MPI_Status seen[4], got;
		for (int tag = 1; tag <= 3; tag++)
			MPI_Probe(MPI_ANY_SOURCE, tag, WORLD, &seen[tag]);
		for (int k = 1; k <= 3; k++) {
			int tag = (k + i) % 3 + 1, count;
			MPI_Get_count(&seen[tag], MPI_INT, &count);
			MPI_Recv(buf, count, MPI_INT, MPI_ANY_SOURCE, tag, WORLD, &got);
			CHECK_INT(got.MPI_SOURCE, seen[tag].MPI_SOURCE);
			CHECK_INT(count, 1 + got.MPI_SOURCE);
		}
	}
}

int main(int argc, char **argv)
{
	int *sum;
	begin(&argc, &argv);
	sum = calloc((size_t)size, sizeof(int));
	for (int receiver = 0; receiver < 2; receiver++) {
		int to = receiver ? size - 1 : 0;
		memset(sum, 0, (size_t)size * sizeof(int));
		if (rank == to) {
			take((size - 1) * ROUNDS, MPI_ANY_TAG, sum);
		} else {
			for (int i = 0; i < ROUNDS; i++) {
				buf[0] = i;
				MPI_Send(buf, 1 + rank, MPI_INT, to, i % 7, WORLD);
			}
		}
		MPI_Barrier(WORLD);
		/* one tag, while messages with other tags lie there */
		memset(sum, 0, (size_t)size * sizeof(int));
		if (rank == to) {
			for (int tag = 3; tag >= 1; tag--) {
				for (int r = 0; r < size; r++)
					sum[r] = tag;
				take(size - 1, tag, sum);
			}
			printf("rank %d: all is what was probed\n", rank);
		} else {
			for (int tag = 1; tag <= 3; tag++) {
				buf[0] = tag;
				MPI_Send(buf, 1 + rank, MPI_INT, to, tag, WORLD);
			}
		}
		MPI_Barrier(WORLD);
	}
	for (int receiver = 0; receiver < 2; receiver++) {
		int to = receiver ? size - 1 : 0;
		if (rank == to)
			take_later((size - 1) * ROUNDS);
		for (int i = 0; i < 3 * ROUNDS && rank != to; i++)
			MPI_Send(buf, 1 + rank, MPI_INT, to, i % 3 + 1, WORLD);
		MPI_Barrier(WORLD);
	}
	free(sum);
	return end();
}
