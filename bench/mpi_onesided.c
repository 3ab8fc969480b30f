/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations of rank 0 on rank TARGET, which waits in MPI_Recv meanwhile: microseconds until an operation of
 * 8 bytes is complete, and streams of 1 MiB. Prints "name: value".
 *
 *     mpi_onesided TARGET
 */
#include "bench/mpi_bench.h"

#define TIMES 2000
#define LARGE_BYTES (1 << 20)
#define LARGE_TIMES 100
#define WINDOW 8

static int target;
static MPI_Win win;
static long value[1];
static char *large;

static void put(void)
{
	MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
	MPI_Win_flush(target, win);
}

static void get(void)
{
	MPI_Get(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
	MPI_Win_flush(target, win);
}

static void accumulate(void)
{
	MPI_Accumulate(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
	MPI_Win_flush(target, win);
}

static void fetch(void)
{
	long before;

	MPI_Fetch_and_op(value, &before, MPI_LONG, target, 0, MPI_SUM, win);
	MPI_Win_flush(target, win);
}

static void lock(void)
{
	MPI_Win_unlock(target, win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
	put();
}

static void put_large(void)
{
	for (int i = 0; i < WINDOW; i++)
		MPI_Put(large, LARGE_BYTES, MPI_BYTE, target, 0, LARGE_BYTES, MPI_BYTE, win);
	MPI_Win_flush(target, win);
}

static void get_large(void)
{
	for (int i = 0; i < WINDOW; i++)
		MPI_Get(large, LARGE_BYTES, MPI_BYTE, target, 0, LARGE_BYTES, MPI_BYTE, win);
	MPI_Win_flush(target, win);
}

static double time_of(void (*operation)(void), int times)
{
	double *took = memory((size_t)times * sizeof(*took)), result;

	for (int i = -times / 10; i < times; i++) {
		double start = MPI_Wtime();
		operation();
		if (i >= 0)
			took[i] = MPI_Wtime() - start;
	}
	result = median(took, times);
	free(took);
	return result;
}

static void measure(void)
{
	static const struct {
		const char *name;
		void (*operation)(void);
	} small[] = {{"put, flush us", put}, {"get, flush us", get}, {"accumulate, flush us", accumulate},
		{"fetch_and_op, flush us", fetch}, {"lock, put, unlock us", lock}};
	const double bytes = (double)WINDOW * LARGE_BYTES;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
	for (unsigned i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		printf("%s: %.2f\n", small[i].name, time_of(small[i].operation, TIMES) * 1e6);
	printf("1 MiB puts MB/s: %.0f\n", bytes / time_of(put_large, LARGE_TIMES) / 1e6);
	printf("1 MiB gets MB/s: %.0f\n", bytes / time_of(get_large, LARGE_TIMES) / 1e6);
	MPI_Win_unlock(target, win);
}

int main(int argc, char **argv)
{
	int me;
	char *base;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	target = argc > 1 ? atoi(argv[1]) : 1;
	large = memory(LARGE_BYTES);
	base = memory(LARGE_BYTES);
	MPI_Win_create(base, LARGE_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (me == 0)
		measure();
	if (me == 0)
		MPI_Send(NULL, 0, MPI_BYTE, target, 1, MPI_COMM_WORLD);
	else if (me == target)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_free(&win);
	free(base);
	free(large);
	MPI_Finalize();
	return 0;
}
