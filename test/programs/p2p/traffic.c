/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank sends to every other one, small and large, until the file that is named as argument exists. Prints the
 * number of every process once it has heard from all. For tests that disturb a running job. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGE 100000 /* ints: no eager message */

static void fail(const char *what, int from)
{
	printf("%s from rank %d is wrong\n", what, from);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

/* One message from this to that rank, of n ints that tell round and sender. */
static void exchange(int rank, int size, int round, int n, int *out, int *in)
{
	for (int d = 1; d < size; d++) {
		int to = (rank + d) % size, from = (rank + size - d) % size;
		for (int i = 0; i < n; i++)
			out[i] = round * 1000 + rank + i;
		MPI_Sendrecv(out, n, MPI_INT, to, round, in, n, MPI_INT, from, round, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		for (int i = 0; i < n; i++)
			if (in[i] != round * 1000 + from + i)
				fail(n == LARGE ? "large message" : "message", from);
	}
}

int main(int argc, char **argv)
{
	int rank, size, stop = 0, *out = malloc(LARGE * sizeof(int)), *in = malloc(LARGE * sizeof(int));
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int round = 0; !stop; round++) {
		exchange(rank, size, round, round % 8 ? 1 + round % 100 : LARGE, out, in);
		if (round == 0) {
			printf("rank %d process %d\n", rank, (int)getpid());
			fflush(stdout);
		}
		stop = rank == 0 && (argc < 2 || access(argv[1], F_OK) == 0);
		MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		fputs("all messages were right\n", stdout); /* one write(2), not two as puts: MPICH buffers nothing */
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
