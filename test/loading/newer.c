/* SPDX-License-Identifier: BSD-3-Clause */
/* The front of an MPI library that has one function more: linked with MPICH, which has the rest. (Without weak symbols
 * an MPI library consists of two such libraries.) */
#include <mpi.h>
#include <stdlib.h>

int MPIX_Future_size(MPI_Comm, int *);
int PMPIX_Future_size(MPI_Comm, int *);

int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}

int PMPIX_Future_size(MPI_Comm comm, int *size)
{
	const char *ranks = getenv("PMI_SIZE"); /* of the native job */

	*size = comm == MPI_COMM_WORLD && ranks ? atoi(ranks) : 0;
	return MPI_SUCCESS;
}

int MPIX_Future_size(MPI_Comm comm, int *size)
{
	return PMPIX_Future_size(comm, size);
}
