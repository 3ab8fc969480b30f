/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program in which rank r sends a byte to rank r + n/2 fifty times a second, for ever, and nothing comes back.
 * For tests of an end that falls silent: whatever it owes others at that moment, the next byte to it is not
 * acknowledged. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size % 2 != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	int half = size / 2;
	for (unsigned char count = 0, first = 1;; count++, first = 0) {
		unsigned char byte = count;
		if (rank < half) {
			MPI_Send(&byte, 1, MPI_BYTE, rank + half, 1, MPI_COMM_WORLD);
			usleep(20000);
		} else {
			MPI_Recv(&byte, 1, MPI_BYTE, rank - half, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (byte != count) {
				printf("rank %d: %d came where %d was due\n", rank, byte, count);
				MPI_Abort(MPI_COMM_WORLD, 3);
			}
		}
		if (first) {
			printf("rank %d is under way\n", rank);
			fflush(stdout);
		}
	}
}
