/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that sends messages to and fro between rank r and rank r + n/2, checks them, and prints when the first
 * have come. Arguments: bytes of a message; rounds (0: for ever); a file that it waits for before it ends; any further
 * word: then both ranks send each other a last message at the same time. For tests of traffic over a bridge, and of its
 * end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill(unsigned char *buf, int len, int from, int round)
{
	for (int i = 0; i < len; i++)
		buf[i] = (unsigned char)(from * 31 + round * 7 + i % 251);
}

int main(int argc, char **argv)
{
	int rank, size, len = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int half = size / 2, first = rank < half, other = first ? rank + half : rank - half;
	unsigned char *out = malloc(len + 1), *in = malloc(len + 1), *wanted = malloc(len + 1);
	if (!out || !in || !wanted || size % 2 != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	/* An empty message to and fro: connections are up afterwards. */
	for (int turn = 0; turn < 2; turn++)
		if (first == (turn == 0))
			MPI_Send(NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD);
		else
			MPI_Recv(NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int round = 0; rounds == 0 || round < rounds; round++) {
		fill(out, len, rank, round);
		fill(wanted, len, other, round);
		memset(in, 0, len);
		if (first)
			MPI_Send(out, len, MPI_BYTE, other, 1, MPI_COMM_WORLD);
		MPI_Recv(in, len, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!first)
			MPI_Send(out, len, MPI_BYTE, other, 1, MPI_COMM_WORLD);
		if (memcmp(in, wanted, len) != 0) {
			printf("rank %d: round %d is wrong\n", rank, round);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
		if (round == 0) {
			printf("rank %d is under way\n", rank);
			fflush(stdout);
		}
	}
	printf("rank %d: %d rounds\n", rank, rounds);
	fflush(stdout);
	while (argc > 3 && access(argv[3], F_OK) != 0)
		usleep(20000);
	if (argc > 4)
		MPI_Sendrecv(out, len, MPI_BYTE, other, 3, in, len, MPI_BYTE, other, 3, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
