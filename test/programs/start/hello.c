/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank prints its place, and one token goes around the ring. twin: tcp=yes */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("hello from rank %d of %d\n", rank, size);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	for (int round = 0; round < 10; round++) {
		if (rank == 0) {
			token += 1;
			MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD);
			MPI_Recv(&token, 1, MPI_INT, prev, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&token, 1, MPI_INT, prev, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			token += rank;
			MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD);
		}
	}
	printf("rank %d: token %d\n", rank, token);
	MPI_Finalize();
	return 0;
}
