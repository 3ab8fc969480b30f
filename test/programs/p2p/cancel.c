/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancelled receives never take a message; those that were matched before stay matched. twin: endpoints=3 */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Request r;
	MPI_Status st;
	int flag, value, cancelled = 0;

	for (int p = -1; p < size; p++) { /* -1: from anyone */
		if (p == rank)
			continue;
		value = -1;
		MPI_Irecv(&value, 1, MPI_INT, p < 0 ? MPI_ANY_SOURCE : p, 50, WORLD, &r);
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		MPI_Test_cancelled(&st, &flag);
		CHECK_INT(flag, 1);
		CHECK_INT(value, -1);
		CHECK(r == MPI_REQUEST_NULL, "null after wait");
		cancelled += flag;
	}
	MPI_Barrier(WORLD);
	/* the cancelled ones are gone: the next message goes to the next receive */
	for (int p = 0; p < size; p++)
		if (p != rank)
			MPI_Send(&rank, 1, MPI_INT, p, 50, WORLD);
	for (int p = 0; p < size; p++)
		if (p != rank) {
			MPI_Recv(&value, 1, MPI_INT, p, 50, WORLD, &st);
			CHECK_INT(value, p);
			MPI_Test_cancelled(&st, &flag);
			CHECK_INT(flag, 0);
		}
	/* cancelled after the message has certainly arrived: it is not lost, one way or the other */
	int lost = 0;
	for (int p = 0; p < size; p++) {
		if (p == rank)
			continue;
		MPI_Request s;
		int got = -1, out = rank * 100 + p;
		MPI_Irecv(&got, 1, MPI_INT, p, 60, WORLD, &r);
		MPI_Isend(&out, 1, MPI_INT, p, 60, WORLD, &s);
		MPI_Sendrecv(NULL, 0, MPI_INT, p, 61, NULL, 0, MPI_INT, p, 61, WORLD, MPI_STATUS_IGNORE);
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		MPI_Test_cancelled(&st, &flag);
		if (flag)
			MPI_Recv(&got, 1, MPI_INT, p, 60, WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&s, MPI_STATUS_IGNORE);
		CHECK_INT(got, p * 100 + rank);
		lost += got != p * 100 + rank;
	}
	/* a cancelled persistent receive can be started again */
	int peer = size - 1 - rank;
	if (peer != rank) {
		MPI_Recv_init(&value, 1, MPI_INT, peer, 70, WORLD, &r);
		MPI_Start(&r);
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		MPI_Test_cancelled(&st, &flag);
		CHECK_INT(flag, 1);
	}
	MPI_Barrier(WORLD);
	if (peer != rank) {
		MPI_Start(&r);
		MPI_Send(&rank, 1, MPI_INT, peer, 70, WORLD);
		MPI_Wait(&r, &st);
		CHECK_INT(value, peer);
		MPI_Request_free(&r);
	}
	MPI_Barrier(WORLD);
	printf("rank %d: %d cancelled, %d lost\n", rank, cancelled, lost);
	return end();
}
