/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: pattern ring|chain|tree|stencil|all BYTES ROUNDS. Every rank sends that much to each of its neighbours in each
 * round, and checks what it gets. For comparing what a map predicts with what happens. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEERS_MAX 64

static int neighbours(const char *pattern, int r, int n, int *to)
{
	int k = 0;

	for (int v = 0; v < n; v++) {
		int low = r < v ? r : v, high = r < v ? v : r, yes;

		if (!strcmp(pattern, "ring"))
			yes = high == low + 1 || high - low == n - 1;
		else if (!strcmp(pattern, "chain"))
			yes = high == low + 1;
		else if (!strcmp(pattern, "tree"))
			yes = (high - 1) / 2 == low;
		else if (!strcmp(pattern, "stencil")) /* two ranks high */
			yes = high == low + 2 || (high == low + 1 && high % 2);
		else
			yes = 1;
		if (yes && v != r)
			to[k++] = v;
	}
	return k;
}

int main(int argc, char **argv)
{
	int rank, size, to[PEERS_MAX], k, bytes, rounds;
	MPI_Request request[2 * PEERS_MAX];
	MPI_Status status[2 * PEERS_MAX];
	char *out, *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	bytes = argc > 3 ? atoi(argv[2]) : 0;
	rounds = argc > 3 ? atoi(argv[3]) : 0;
	if (size > PEERS_MAX || bytes < 1)
		MPI_Abort(MPI_COMM_WORLD, 2);
	k = neighbours(argv[1], rank, size, to);
	out = malloc((size_t)bytes);
	in = malloc((size_t)bytes * (size_t)(k + 1));
	if (!out || !in)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 0; i < rounds; i++) {
		memset(out, rank + i, (size_t)bytes);
		for (int j = 0; j < k; j++)
			MPI_Irecv(in + (size_t)j * (size_t)bytes, bytes, MPI_BYTE, to[j], i, MPI_COMM_WORLD, &request[j]);
		for (int j = 0; j < k; j++)
			MPI_Isend(out, bytes, MPI_BYTE, to[j], i, MPI_COMM_WORLD, &request[k + j]);
		MPI_Waitall(2 * k, request, status);
		for (int j = 0; j < k; j++)
			for (int b = 0; b < bytes; b++)
				if (in[(size_t)j * (size_t)bytes + (size_t)b] != (char)(to[j] + i)) {
					printf("round %d: what %d sent to %d is wrong\n", i, to[j], rank);
					MPI_Abort(MPI_COMM_WORLD, 3);
				}
	}
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
