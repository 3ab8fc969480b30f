/* SPDX-License-Identifier: BSD-3-Clause */
/* broadcasts BYTES COUNT [RANK AT]: broadcasts from rank 0 only; RANK is killed before broadcast number AT. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, bytes = atoi(argv[1]), count = atoi(argv[2]), who = argc > 4 ? atoi(argv[3]) : -1;
	int at = argc > 4 ? atoi(argv[4]) : -1;
	char *buf = malloc((size_t)bytes + 1);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 0; k < count; k++) {
		if (rank == who && k == at)
			raise(SIGKILL);
		memset(buf, rank == 0 ? k : -1, (size_t)bytes);
		MPI_Bcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		if (bytes > 0 && (buf[0] != (char)k || buf[bytes - 1] != (char)k)) {
			printf("rank %d: broadcast %d is wrong\n", rank, k);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
	}
	MPI_Finalize();
	free(buf);
	return 0;
}
