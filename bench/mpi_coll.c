/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of all ranks: the median over repetitions of the slowest rank's time. Prints "name bytes: us".
 *
 *     mpi_coll block|yield [SECONDS]     blocking calls, or nonblocking ones and a loop of tests that yields;
 *                                        SECONDS: about how long each operation is repeated
 */
#include "mpi_bench.h"

#define REPEAT_MAX 2000
#define REPEAT_MIN 5
#define LARGE_BYTES (1 << 20)

static char *in, *out;
static int size;

static void barrier(int bytes, MPI_Request *r)
{
	(void)bytes;
	r ? MPI_Ibarrier(MPI_COMM_WORLD, r) : MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int bytes, MPI_Request *r)
{
	r ? MPI_Ibcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, r) : MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes, MPI_Request *r)
{
	int n = bytes / (int)sizeof(double);

	r ? MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r)
	  : MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes, MPI_Request *r)
{
	r ? MPI_Ialltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD, r)
	  : MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static double once(void (*op)(int, MPI_Request *), int bytes)
{
	double start = MPI_Wtime();
	MPI_Request r;

	op(bytes, yielding ? &r : NULL);
	if (yielding)
		wait_all(1, &r);
	return MPI_Wtime() - start;
}

/* Ranks begin together: a broadcast's root would run ahead otherwise. */
static void together(void)
{
	once(barrier, 0);
}

static void measure(const char *name, void (*op)(int, MPI_Request *), int bytes, double seconds)
{
	static double mine[REPEAT_MAX], slowest[REPEAT_MAX];
	int rank, repeat;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double first = MPI_Wtime();
	for (int i = 0; i < 3; i++) {
		together();
		once(op, bytes);
	}
	first = (MPI_Wtime() - first) / 3;
	repeat = first * REPEAT_MAX < seconds ? REPEAT_MAX : (int)(seconds / first);
	if (repeat < REPEAT_MIN)
		repeat = REPEAT_MIN;
	MPI_Bcast(&repeat, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < repeat; i++) {
		together();
		mine[i] = once(op, bytes);
	}
	MPI_Reduce(mine, slowest, repeat, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("%s %d: %.1f\n", name, bytes, median(slowest, repeat) * 1e6);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const int sizes[] = {8, 4096, LARGE_BYTES};

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	yielding = argc > 1 && strcmp(argv[1], "yield") == 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0.5;
	in = memory((size_t)size * LARGE_BYTES);
	out = memory((size_t)size * LARGE_BYTES);
	memset(in, 0, (size_t)size * LARGE_BYTES); /* doubles that stay normal numbers */
	measure("barrier", barrier, 0, seconds);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		measure("bcast", bcast, sizes[i], seconds);
		measure("allreduce", allreduce, sizes[i], seconds);
		measure("alltoall", alltoall, sizes[i], seconds);
	}
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
