/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread in MPI_Buffer_detach keeps no other thread out: another thread sends the message that the receiver of the
 * buffered message waits for.
 */
#include <pthread.h>

#include "../check.h"

#define LARGE (1 << 20)

static void *tell(void *arg)
{
	int to = (int)(intptr_t)arg, go = 1;

	/* after the thread that detaches has begun to, most likely */
	for (int i = 0; i < 20; i++)
		MPI_Sendrecv(&go, 1, MPI_INT, to, 1, &go, 1, MPI_INT, to, 2, WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&go, 1, MPI_INT, to, 3, WORLD);
	return NULL;
}

static void send_side(int to)
{
	static char attached[LARGE + MPI_BSEND_OVERHEAD], data[LARGE];
	int bytes;
	void *back;
	pthread_t thread;

	fill(data, LARGE, 1);
	MPI_Buffer_attach(attached, sizeof attached);
	MPI_Bsend(data, LARGE, MPI_BYTE, to, 4, WORLD);
	pthread_create(&thread, NULL, tell, (void *)(intptr_t)to);
	MPI_Buffer_detach(&back, &bytes);
	pthread_join(thread, NULL);
	CHECK(back == attached, "another buffer comes back");
}

static void receive_side(int from)
{
	static char data[LARGE];
	int go = 1;

	for (int i = 0; i < 20; i++)
		MPI_Sendrecv(&go, 1, MPI_INT, from, 2, &go, 1, MPI_INT, from, 1, WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(&go, 1, MPI_INT, from, 3, WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(data, LARGE, MPI_BYTE, from, 4, WORLD, MPI_STATUS_IGNORE);
	CHECK(filled(data, LARGE, 1), "the buffered message from %d", from);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	for (int to = 1; to < size; to++) {
		if (rank == 0)
			send_side(to);
		if (rank == to)
			receive_side(0);
	}
	return end();
}
