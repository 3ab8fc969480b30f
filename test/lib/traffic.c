/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of all sizes between the ranks of both ends of the world, to and fro at the same time, and collectives over
 * it, all checked, until the file of the first argument exists. With "abort CODE" after it rank 2 then aborts. For
 * tests of jobs that lose a zipper meanwhile.
 */
#include "../programs/check.h"

#include <unistd.h>

#define WINDOW 12
#define LONGEST 1500000 /* the longest are divided among rails */
#define BEGIN 5		/* rounds before a test may disturb the job */

static char out[WINDOW][LONGEST], in[WINDOW][LONGEST];

static int length_of(int from, int number)
{
	uint32_t x = (uint32_t)(from * 977 + number) * 2654435761u >> 8;
	return x % 4 == 0 ? (int)(x % LONGEST) : x % 4 == 1 ? (int)(x % 100000) : (int)(x % 2000);
}

static uint32_t seed_of(int from, int number)
{
	return (uint32_t)(from * 100003 + number);
}

static void exchange(int peer, int first)
{
	MPI_Request request[2 * WINDOW];
	MPI_Status status[2 * WINDOW];

	for (int i = 0; i < WINDOW; i++) {
		int len = length_of(rank, first + i);
		fill(out[i], (size_t)len, seed_of(rank, first + i));
		MPI_Isend(out[i], len, MPI_BYTE, peer, 1, WORLD, &request[WINDOW + i]);
	}
	for (int i = 0; i < WINDOW; i++)
		MPI_Irecv(in[i], LONGEST, MPI_BYTE, peer, 1, WORLD, &request[i]);
	MPI_Waitall(2 * WINDOW, request, status);
	for (int i = 0; i < WINDOW; i++) {
		int len, wanted = length_of(peer, first + i);
		MPI_Get_count(&status[i], MPI_BYTE, &len);
		CHECK_INT(len, wanted);
		CHECK(filled(in[i], (size_t)wanted, seed_of(peer, first + i)), "message %d", first + i);
	}
}

int main(int argc, char **argv)
{
	int stop = 0;
	begin(&argc, &argv);
	for (int round = 0; !stop; round++) {
		long long mine = (long long)round * 1000 + rank, sum = 0;
		exchange(size - 1 - rank, round * WINDOW);
		MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, WORLD);
		CHECK_INT(sum, (long long)size * round * 1000 + (long long)size * (size - 1) / 2);
		if (round == BEGIN)
			printf("rank %d of %d pid %d\n", rank, size, (int)getpid());
		stop = rank == 0 && argc > 1 && round > BEGIN && access(argv[1], F_OK) == 0;
		MPI_Bcast(&stop, 1, MPI_INT, 0, WORLD);
	}
	if (argc > 3 && rank == 2)
		MPI_Abort(WORLD, atoi(argv[3]));
	if (argc > 3)
		MPI_Recv(&stop, 1, MPI_INT, size - 1 - rank, 2, WORLD, MPI_STATUS_IGNORE); /* no rank sends it */
	return end();
}
