/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_detach waits for buffered sends and for nothing else: a large send whose request was freed stays open
 * while its receiver waits for what comes after the detaching.
 */
#include "../check.h"

#define LARGE 300000

/* Detaching takes part in what else goes on: the buffered message to `to` is received when a large one to `other` has
 * been. pair: of 0 and to. */
static void chain(int to, int other, MPI_Comm pair)
{
	static char attached[LARGE + MPI_BSEND_OVERHEAD], large[LARGE], in[LARGE];
	int size_back, go = 0;
	void *back;
	MPI_Request r;

	if (rank == 0) {
		fill(large, LARGE, 1);
		MPI_Isend(large, LARGE, MPI_BYTE, other, 5, WORLD, &r);
		MPI_Buffer_attach(attached, sizeof attached);
		MPI_Bsend(large, LARGE, MPI_BYTE, 1, 6, pair);
		MPI_Buffer_detach(&back, &size_back);
		CHECK(back == attached, "another buffer comes back");
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else if (rank == other) {
		MPI_Recv(in, LARGE, MPI_BYTE, 0, 5, WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&rank, 1, MPI_INT, to, 7, WORLD);
	} else if (rank == to) {
		MPI_Recv(&go, 1, MPI_INT, other, 7, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(go, other);
		MPI_Recv(in, LARGE, MPI_BYTE, 0, 6, pair, MPI_STATUS_IGNORE);
	}
	if (rank == to || rank == other)
		CHECK(filled(in, LARGE, 1), "the message from 0");
}

static void chains(void)
{
	for (int to = 1; to < size; to++) {
		MPI_Comm pair;
		MPI_Comm_split(WORLD, rank == 0 || rank == to ? 0 : MPI_UNDEFINED, rank, &pair);
		for (int other = 1; other < size; other++)
			if (other != to)
				chain(to, other, pair);
		if (pair != MPI_COMM_NULL)
			MPI_Comm_free(&pair);
	}
}

int main(int argc, char **argv)
{
	static char attached[2 * LARGE + 10 * MPI_BSEND_OVERHEAD], large[LARGE], other[LARGE], in[LARGE];
	int value = 5, size_back;
	void *back;

	begin(&argc, &argv);
	for (int step = 1; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		MPI_Request r;
		fill(large, LARGE, (uint32_t)(100 + rank));
		MPI_Isend(large, LARGE, MPI_BYTE, to, 1, WORLD, &r);
		MPI_Request_free(&r);
		MPI_Buffer_attach(attached, sizeof attached);
		MPI_Bsend(&value, 1, MPI_INT, to, 2, WORLD);
		MPI_Buffer_detach(&back, &size_back);
		CHECK(back == attached, "another buffer comes back");
		CHECK_INT(size_back, sizeof attached);
		MPI_Send(&value, 1, MPI_INT, to, 3, WORLD);

		int got = 0;
		MPI_Recv(&got, 1, MPI_INT, from, 3, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(got, 5);
		MPI_Recv(&got, 1, MPI_INT, from, 2, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(got, 5);
		MPI_Recv(in, LARGE, MPI_BYTE, from, 1, WORLD, MPI_STATUS_IGNORE);
		CHECK(filled(in, LARGE, (uint32_t)(100 + from)), "the large message from %d", from);

		/* a large buffered one: the buffer may be used again after detaching */
		MPI_Buffer_attach(attached, sizeof attached);
		fill(other, LARGE, (uint32_t)(200 + rank));
		MPI_Irecv(in, LARGE, MPI_BYTE, from, 4, WORLD, &r);
		MPI_Bsend(other, LARGE, MPI_BYTE, to, 4, WORLD);
		memset(other, 0, LARGE);
		MPI_Buffer_detach(&back, &size_back);
		memset(attached, 0, sizeof attached);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK(filled(in, LARGE, (uint32_t)(200 + from)), "the buffered message from %d", from);
		MPI_Barrier(WORLD); /* large is free again */
	}
	chains();
	return end();
}
