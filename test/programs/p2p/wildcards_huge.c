/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives from MPI_ANY_SOURCE that are far larger than their messages, with MPICH 4.0 also than all memory, of a
 * datatype with gaps.
 * Each is a native receive as well; MPICH may keep some of these when they are cancelled, and say so at its end
 * ("leaked handle pool objects"). twin: native=no
 */
#include "../check.h"

static void generous(void)
{
	/* MPICH from 4.2 on takes memory for all of a receive with gaps, and crashes if there is none */
	const MPI_Count count = (MPI_Count)1 << (mpich_version() < 402 ? 40 : 20);
	int out[2] = {rank, -rank}, in[4], to = (rank + 1) % size;
	MPI_Datatype spread;
	MPI_Request r;
	MPI_Status st;

	MPI_Type_vector(2, 1, 3, MPI_INT, &spread);
	MPI_Type_commit(&spread);
	for (int round = 0; round < 4; round++) {
		memset(in, 0, sizeof in);
		if (round % 2)
			MPI_Isend(out, 2, MPI_INT, to, 5, WORLD, &r);
		else
			MPI_Irecv_c(in, count, spread, MPI_ANY_SOURCE, 5, WORLD, &r);
		MPI_Barrier(WORLD);
		if (round % 2)
			MPI_Recv_c(in, count, spread, MPI_ANY_SOURCE, 5, WORLD, &st);
		else
			MPI_Send(out, 2, MPI_INT, to, 5, WORLD);
		MPI_Wait(&r, round % 2 ? MPI_STATUS_IGNORE : &st);
		CHECK_INT(in[0], st.MPI_SOURCE);
		CHECK_INT(in[3], -st.MPI_SOURCE);
	}
	MPI_Type_free(&spread);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	generous();
	return end();
}
