/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank prints the first line of what its MPI library says of itself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int rank, len;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_library_version(text, &len);
	text[strcspn(text, "\n")] = '\0';
	printf("rank %d: %s\n", rank, text);
	MPI_Finalize();
	return 0;
}
