/* SPDX-License-Identifier: BSD-3-Clause */
/* spy COMMAND: rank 0 runs a command of the shell while all ranks are in the job. SPY is its process there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, status = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && argc > 1) {
		char text[32];
		snprintf(text, sizeof(text), "%ld", (long)getpid());
		setenv("SPY", text, 1);
		status = system(argv[1]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return status < 0;
}
