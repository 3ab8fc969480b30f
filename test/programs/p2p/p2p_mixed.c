/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of messages of mixed sizes between the first and the last rank, the second and the last but one and so on, to
 * and fro at the same time, all with one tag: they must be received in the order in which they were sent (MPI-4.0
 * section 3.5), whatever way the large ones take. In every third window the receiver comes late, so that its queues
 * fill. Argument: windows. twin: one_sided=yes external32=yes tcp=yes
 */
#include "../check.h"

#include <time.h>

#define WINDOW 20
#define LONGEST 150000

static int length_of(int from, int number)
{
	uint32_t x = (uint32_t)(from * 977 + number) * 2654435761u >> 8;
	return x % 3 ? (int)(x % 3000) : (int)(x % LONGEST);
}

static void one_window(int peer, int first)
{
	static char out[WINDOW][LONGEST], in[WINDOW][LONGEST];
	MPI_Request request[2 * WINDOW];
	MPI_Status status[2 * WINDOW];

	for (int i = 0; i < WINDOW; i++) {
		fill(out[i], (size_t)length_of(rank, first + i), (uint32_t)(rank * 1000 + first + i));
		MPI_Isend(out[i], length_of(rank, first + i), MPI_BYTE, peer, 1, WORLD, &request[WINDOW + i]);
	}
	if (first / WINDOW % 3 == 2)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	for (int i = 0; i < WINDOW; i++)
		MPI_Irecv(in[i], LONGEST, MPI_BYTE, peer, 1, WORLD, &request[i]);
	MPI_Waitall(2 * WINDOW, request, status);
	for (int i = 0; i < WINDOW; i++) {
		int len, wanted = length_of(peer, first + i);
		MPI_Get_count(&status[i], MPI_BYTE, &len);
		CHECK_INT(len, wanted);
		CHECK(filled(in[i], (size_t)wanted, (uint32_t)(peer * 1000 + first + i)), "message %d", first + i);
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int windows = argc > 1 ? atoi(argv[1]) : 6;
	int peer = size - 1 - rank;
	for (int w = 0; w < windows && peer != rank; w++)
		one_window(peer, w * WINDOW);
	printf("rank %d: %d windows\n", rank, windows);
	return end();
}
