/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Isendrecv_replace of a large message is not over before somebody receives it, whatever it receives itself: else
 * one that sends faster than the other receives would fill its memory. And it is no buffered send: detaching a buffer
 * does not wait for it.
 */
#include "../check.h"

#define LARGE (1 << 22)
#define TESTS 2000

static char data[LARGE], other[LARGE];

static void send_side(int to, int source)
{
	MPI_Request r;
	void *back;
	int flag = 0, bytes, go = 1;

	fill(data, LARGE, (uint32_t)(10 + rank));
	MPI_Isendrecv_replace(data, LARGE, MPI_BYTE, to, 1, source, 2, WORLD, &r);
	for (int i = 0; i < TESTS && !flag; i++)
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	CHECK(!flag, "sent to %d, who has not received", to);
	MPI_Buffer_attach(other, LARGE);
	MPI_Buffer_detach(&back, &bytes);
	CHECK(back == other && bytes == LARGE, "another buffer comes back");
	MPI_Send(&go, 1, MPI_INT, to, 3, WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK(filled(data, LARGE, (uint32_t)(source == MPI_PROC_NULL ? 10 + rank : 20 + source)), "what came from %d",
		source);
}

static void receive_side(int from, int answers)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int go = 0;

	fill(other, LARGE, (uint32_t)(20 + rank));
	if (answers)
		MPI_Isend(other, LARGE, MPI_BYTE, from, 2, WORLD, &r);
	MPI_Recv(&go, 1, MPI_INT, from, 3, WORLD, MPI_STATUS_IGNORE);
	CHECK_INT(go, 1);
	MPI_Recv(data, LARGE, MPI_BYTE, from, 1, WORLD, MPI_STATUS_IGNORE);
	CHECK(filled(data, LARGE, (uint32_t)(10 + from)), "what came from %d", from);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	for (int to = 1; to < size; to++)
		for (int answers = 0; answers < 2; answers++) {
			if (rank == 0)
				send_side(to, answers ? to : MPI_PROC_NULL);
			if (rank == to)
				receive_side(0, answers);
			MPI_Barrier(WORLD);
		}
	return end();
}
