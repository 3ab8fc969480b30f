/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that is late for a broadcast does not hold up other clusters: the last rank, alone in its cluster, enters each
 * broadcast only after all others except the root have told it that they have left it. With MPICH's own broadcast that
 * would wait for ever, as MPI allows (MPI-4.0 section 6.1). twin: native=no ranks=4 layouts=1+1+1+1,2+1+1,1+2+1
 */
#include "../check.h"

#define LARGE 3000000 /* more than is granted at once */

static char buf[LARGE];

int main(int argc, char **argv)
{
	static const int sizes[] = {100, 16384, 20000, LARGE, 100, LARGE};
	char want[64];
	begin(&argc, &argv);
	for (int k = 0; k < 6; k++) {
		int token = k;
		if (rank == 0)
			fill(buf, sizes[k], (uint32_t)k);
		for (int r = 1; rank == size - 1 && r < size - 1; r++)
			MPI_Recv(&token, 1, MPI_INT, r, k, WORLD, MPI_STATUS_IGNORE);
		MPI_Bcast(buf, sizes[k], MPI_CHAR, 0, WORLD);
		if (rank > 0 && rank < size - 1)
			MPI_Send(&token, 1, MPI_INT, size - 1, k, WORLD);
		fill(want, 64, (uint32_t)k);
		CHECK(memcmp(buf, want, 64) == 0, "other bytes in broadcast %d", k);
	}
	return end();
}
