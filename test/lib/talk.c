/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks exchange messages of two sizes with their mirror images (the first with the last) for ever. After some rounds
 * rank 0 kills itself ("talk self"), kills that process ("talk PID"), or makes that file ("talk made FILE").
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 50
#define LARGE 200000

static void act(char **argv)
{
	FILE *made;

	if (strcmp(argv[1], "self") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(argv[1], "made") != 0)
		kill(atoi(argv[1]), SIGKILL);
	else if ((made = fopen(argv[2], "w")))
		fclose(made);
}

int main(int argc, char **argv)
{
	static char buf[LARGE];
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0;; i++) {
		MPI_Sendrecv_replace(buf, i % 3 ? 100 : LARGE, MPI_CHAR, size - 1 - rank, 1, size - 1 - rank, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i == ROUNDS && rank == 0)
			act(argv);
	}
}
