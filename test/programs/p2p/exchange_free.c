/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI_Isendrecv whose request is freed at once goes on by itself: also where it receives from any source into
 * separate pieces of memory, and where no other call completes its halves. MPICH 4.0.2 crashes in MPI_Isendrecv. twin:
 * native=no
 */
#include "../check.h"

#define N 1000
#define LARGE 100000

/* MPI does not tell when what was freed is complete: the last value that comes does. */
static void wait_for(const volatile int *last, int value)
{
	int flag;
	while (*last != value)
		MPI_Iprobe(MPI_ANY_SOURCE, 99, WORLD, &flag, MPI_STATUS_IGNORE);
}

static void exchange(int to, int from, int source, int tag, MPI_Datatype gaps)
{
	static int out[2 * N], in[2 * N];
	MPI_Request r;

	for (int i = 0; i < 2 * N; i++)
		out[i] = rank * 2 * N + i, in[i] = -1;
	MPI_Isendrecv(out, 1, gaps, to, tag, in, 1, gaps, source, tag, WORLD, &r);
	MPI_Request_free(&r);
	CHECK(r == MPI_REQUEST_NULL, "a handle is left");
	wait_for(&in[2 * N - 2], from * 2 * N + 2 * N - 2);
	for (int i = 0; i < 2 * N; i++)
		CHECK_INT(in[i], i % 2 ? -1 : from * 2 * N + i);
	MPI_Barrier(WORLD);
}

static void replace(int to, int from, int tag)
{
	static int both[LARGE];
	MPI_Request r;

	for (int i = 0; i < LARGE; i++)
		both[i] = -rank - 1;
	MPI_Isendrecv_replace(both, LARGE, MPI_INT, to, tag, from, tag, WORLD, &r);
	MPI_Request_free(&r);
	wait_for(&both[LARGE - 1], -from - 1);
	MPI_Barrier(WORLD);
	for (int i = 0; i < LARGE; i++)
		CHECK_INT(both[i], -from - 1);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Datatype gaps;
	MPI_Type_vector(N, 1, 2, MPI_INT, &gaps), MPI_Type_commit(&gaps);
	for (int step = 1; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		exchange(to, from, MPI_ANY_SOURCE, 3 * step, gaps);
		exchange(to, from, from, 3 * step + 1, gaps);
		replace(to, from, 3 * step + 2);
	}
	MPI_Type_free(&gaps);
	return end();
}
