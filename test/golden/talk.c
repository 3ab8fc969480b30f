/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversation that golden.t records: two ranks in two clusters exchange one message of each kind, one after the
 * other. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SMALL 5
#define LARGE 3000

static char buffer[LARGE];

/* From rank 0 to rank 1, and back; the receiver waits for it. */
static void there_and_back(int rank, int len, int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
	for (int turn = 0; turn < 2; turn++) {
		if (turn == rank)
			send(buffer, len, MPI_BYTE, 1 - rank, len, MPI_COMM_WORLD);
		else
			MPI_Recv(buffer, len, MPI_BYTE, 1 - rank, len, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME] = "port of rank 0";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	memset(buffer, 'a' + rank, sizeof(buffer));
	/* Rank 1 is to have its channel before the first message comes: else it depends on the time whether zipperd
	 * asks for it. */
	if (rank == 0)
		sleep(2);
	there_and_back(rank, SMALL, MPI_Send);
	there_and_back(rank, SMALL, MPI_Ssend);
	there_and_back(rank, LARGE, MPI_Send);
	if (rank == 0)
		MPI_Publish_name("a service", MPI_INFO_NULL, port);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Lookup_name("a service", MPI_INFO_NULL, port);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Unpublish_name("a service", MPI_INFO_NULL, port);
	MPI_Finalize();
	return 0;
}
