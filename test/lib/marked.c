/* SPDX-License-Identifier: BSD-3-Clause */
/* marked MARK, with two ranks: each sends the other large messages that are full of this text, and checks what comes.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1 << 20)

int main(int argc, char **argv)
{
	char *out = malloc(BYTES), *in = malloc(BYTES);
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t i = 0, n = strlen(argv[1]); i < BYTES; i++)
		out[i] = argv[1][i % n];
	for (int round = 0; round < 5; round++) {
		MPI_Sendrecv(out, BYTES, MPI_CHAR, 1 - rank, round, in, BYTES, MPI_CHAR, 1 - rank, round,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (memcmp(in, out, BYTES) != 0)
			MPI_Abort(MPI_COMM_WORLD, 3);
	}
	MPI_Finalize();
	return 0;
}
