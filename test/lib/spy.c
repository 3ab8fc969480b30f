/* SPDX-License-Identifier: BSD-3-Clause */
/* spy COMMAND: rank 0 runs a command of the shell while all ranks are in the job. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, status = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && argc > 1)
		status = system(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return status < 0;
}
