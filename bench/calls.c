/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a call on local communicators. The difference between a merged and a native run is what libzipper adds.
 * Prints the best of several rounds, as other programs run on the machine, too. Rank 0 measures on MPI_COMM_SELF and on
 * a communicator that is split off from the world.
 */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 9
#define CALLS 200000

enum { RANK, SELF_MESSAGE, PROBE, BARRIER, NKINDS };

static double once(int kind, MPI_Comm comm)
{
	int n, in = 0, out = 1, flag;
	MPI_Request request;
	double start = MPI_Wtime();

	for (int i = 0; i < CALLS; i++) {
		switch (kind) {
		case RANK:
			MPI_Comm_rank(comm, &n);
			break;
		case SELF_MESSAGE:
			MPI_Irecv(&in, 1, MPI_INT, 0, 0, comm, &request);
			MPI_Send(&out, 1, MPI_INT, 0, 0, comm);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			break;
		case PROBE:
			MPI_Iprobe(0, 1, comm, &flag, MPI_STATUS_IGNORE);
			break;
		default:
			MPI_Barrier(comm);
		}
	}
	return (MPI_Wtime() - start) * 1e9 / CALLS;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"MPI_Comm_rank", "Irecv+Send+Wait", "MPI_Iprobe, nothing", "MPI_Barrier"};
	MPI_Comm local, comms[2] = {MPI_COMM_SELF};
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &local);
	comms[1] = local;
	for (int kind = 0; kind < NKINDS && rank == 0; kind++) {
		double best[2] = {1e9, 1e9};
		for (int round = 0; round < ROUNDS; round++)
			for (int c = 0; c < 2; c++) {
				double ns = once(kind, comms[c]);
				best[c] = ns < best[c] ? ns : best[c];
			}
		printf("%-22s %8.1f ns  %8.1f ns\n", names[kind], best[0], best[1]);
	}
	MPI_Comm_free(&local);
	MPI_Finalize();
	return 0;
}
