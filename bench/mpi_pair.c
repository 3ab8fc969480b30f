/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the first and the last rank: half round trips of 8 bytes; messages of 1 MiB as a stream, with a
 * window of messages under way, and as ping-pong. Prints "name: value".
 *
 *     mpi_pair block|yield [SCALE]     waiting in MPI, or in a loop of tests that yields; SCALE: fewer repetitions
 */
#include "bench/mpi_bench.h"

#define ROUND_TRIPS 10000
#define LARGE_BYTES (1 << 20)
#define LARGE_TRIPS 200
#define WINDOW 8
#define WINDOWS 250 /* as many messages as a relay gets, see measure.h */

static int me, peer, sender;

static void send(void *buf, int bytes)
{
	MPI_Request r;

	MPI_Isend(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &r);
	wait_all(1, &r);
}

static void receive(void *buf, int bytes)
{
	MPI_Request r;

	MPI_Irecv(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &r);
	wait_all(1, &r);
}

/* With "block": blocking calls, as most programs have them. */
static void trip(void *buf, int bytes)
{
	if (sender) {
		yielding ? send(buf, bytes) : (void)MPI_Send(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
		yielding ? receive(buf, bytes)
			 : (void)MPI_Recv(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		yielding ? receive(buf, bytes)
			 : (void)MPI_Recv(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		yielding ? send(buf, bytes) : (void)MPI_Send(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
	}
}

static double *trips(int bytes, int count)
{
	double *times = memory((size_t)count * sizeof(*times));
	void *buf = memory((size_t)bytes);

	for (int i = -count / 10; i < count; i++) {
		double start = MPI_Wtime();
		trip(buf, bytes);
		if (i >= 0)
			times[i] = (MPI_Wtime() - start) / 2;
	}
	free(buf);
	qsort(times, (size_t)count, sizeof(*times), compare);
	return times;
}

static double stream(int windows)
{
	char *buf = memory((size_t)WINDOW * LARGE_BYTES);
	MPI_Request r[WINDOW];
	double start = 0;

	for (int w = -windows / 10 - 1; w < windows; w++) {
		if (w == 0)
			start = MPI_Wtime();
		for (int i = 0; i < WINDOW; i++) {
			char *at = buf + (size_t)i * LARGE_BYTES;
			if (sender)
				MPI_Isend(at, LARGE_BYTES, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[i]);
			else
				MPI_Irecv(at, LARGE_BYTES, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[i]);
		}
		wait_all(WINDOW, r);
	}
	sender ? receive(buf, 8) : send(buf, 8);
	double seconds = MPI_Wtime() - start;
	free(buf);
	return (double)windows * WINDOW * LARGE_BYTES / seconds / 1e6;
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	yielding = argc > 1 && strcmp(argv[1], "yield") == 0;
	int scale = argc > 2 ? atoi(argv[2]) : 1;
	if (scale < 1 || size < 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	sender = me == 0;
	peer = sender ? size - 1 : 0;
	if (me == 0 || me == size - 1) {
		double *small = trips(8, ROUND_TRIPS / scale);
		double *large = trips(LARGE_BYTES, LARGE_TRIPS / scale);
		double rate = stream(WINDOWS / scale);
		if (sender) {
			printf("8 B one way us: %.2f\n", small[ROUND_TRIPS / scale / 2] * 1e6);
			printf("8 B 99 %% us: %.2f\n", small[ROUND_TRIPS / scale / 100 * 99] * 1e6);
			printf("1 MiB ping-pong MB/s: %.0f\n", LARGE_BYTES / large[LARGE_TRIPS / scale / 2] / 1e6);
			printf("1 MiB stream MB/s: %.0f\n", rate);
		}
		free(small);
		free(large);
	}
	MPI_Finalize();
	return 0;
}
