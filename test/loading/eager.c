/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that calls MPI_Init when it is loaded. */
#include <mpi.h>
#include <stdio.h>

static void begin(void) __attribute__((constructor));
static void begin(void)
{
	MPI_Init(NULL, NULL);
}

int run(void);
int run(void)
{
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("rank %d: of %d\n", rank, size);
	return MPI_Finalize();
}
