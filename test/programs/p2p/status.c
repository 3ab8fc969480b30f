/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, elements, undefined counts, MPI_PROC_NULL, MPI_COMM_SELF, messages to oneself. */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Status st;
	MPI_Datatype pair, triple;
	MPI_Count many;
	int n, flag, value = 3, in[64];
	double d[8] = {0};
	int lens[2] = {1, 1};
	MPI_Aint disps[2] = {0, 8};
	MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
	MPI_Type_create_struct(2, lens, disps, types, &pair), MPI_Type_commit(&pair);
	MPI_Type_contiguous(3, MPI_INT, &triple), MPI_Type_commit(&triple);

	for (int step = 0; step < size; step++) { /* step 0: to oneself */
		int to = (rank + step) % size, from = (rank + size - step) % size;
		char buf[64] = {0};
		value = 3;
		for (int k = 0; k < 8; k++) {
			MPI_Sendrecv(d, k, MPI_INT, to, k, in, 64, MPI_INT, from, k, WORLD, &st);
			MPI_Get_count(&st, MPI_INT, &n);
			CHECK_INT(n, k);
			MPI_Get_count(&st, triple, &n);
			CHECK_INT(n, k % 3 ? MPI_UNDEFINED : k / 3);
			MPI_Get_elements(&st, triple, &n);
			CHECK_INT(n, k);
			MPI_Get_elements_x(&st, triple, &many);
			CHECK_INT(many, k);
			MPI_Get_count(&st, MPI_CHAR, &n);
			CHECK_INT(n, 4 * k);
			printf("rank %d: %d ints from %d\n", rank, k, st.MPI_SOURCE);
		}
		/* one pair and an int more: three elements */
		MPI_Request r;
		int pos = 0;
		char packed[64];
		MPI_Pack(buf, 1, pair, packed, 64, &pos, WORLD);
		MPI_Pack(&value, 1, MPI_INT, packed, 64, &pos, WORLD);
		MPI_Irecv(buf, 3, pair, from, 20, WORLD, &r);
		MPI_Send(packed, pos, MPI_PACKED, to, 20, WORLD);
		MPI_Wait(&r, &st);
		MPI_Get_count(&st, pair, &n);
		CHECK_INT(n, MPI_UNDEFINED);
		MPI_Get_elements(&st, pair, &n);
		CHECK_INT(n, 3);
		memcpy(&n, buf + 16, 4);
		CHECK_INT(n, 3);
		/* zero-size type */
		MPI_Datatype none;
		MPI_Type_contiguous(0, MPI_INT, &none), MPI_Type_commit(&none);
		MPI_Irecv(buf, 5, none, from, 21, WORLD, &r);
		MPI_Send(buf, 5, none, to, 21, WORLD);
		MPI_Wait(&r, &st);
		MPI_Get_count(&st, none, &n);
		CHECK_INT(n, 0);
		MPI_Type_free(&none);

		MPI_Irecv(buf, 1, MPI_INT, from, 22, WORLD, &r);
		MPI_Send(&value, 1, MPI_INT, to, 22, WORLD);
		st.MPI_ERROR = 55; /* it is for functions that return several */
		for (flag = 0; !flag;)
			MPI_Request_get_status(r, &flag, &st);
		CHECK_INT(st.MPI_ERROR, 55);
		CHECK_INT(st.MPI_SOURCE, from);
		MPI_Wait(&r, &st);
		CHECK_INT(st.MPI_ERROR, 55);

		value = rank;
		MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 30, from, 30, WORLD, &st);
		CHECK_INT(value, from);
		CHECK_INT(st.MPI_SOURCE, from);
		static int big[50000];
		for (int i = 0; i < 50000; i++)
			big[i] = rank * i;
		MPI_Sendrecv_replace(big, 50000, MPI_INT, to, 31, from, MPI_ANY_TAG, WORLD, &st);
		CHECK_INT(st.MPI_TAG, 31);
		for (int i = 0; i < 50000; i++)
			CHECK_INT(big[i], from * i);
	}
	/* nobody */
	MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD);
	MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD, &st);
	MPI_Get_count(&st, MPI_INT, &n);
	CHECK_INT(st.MPI_SOURCE, MPI_PROC_NULL);
	CHECK_INT(st.MPI_TAG, MPI_ANY_TAG);
	CHECK_INT(n, 0);
	int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
	value = -5;
	MPI_Sendrecv(&rank, 1, MPI_INT, up, 40, &value, 1, MPI_INT, down, 40, WORLD, &st);
	CHECK_INT(value, rank ? rank - 1 : -5);
	CHECK_INT(st.MPI_SOURCE, down);
	MPI_Iprobe(MPI_PROC_NULL, 0, WORLD, &flag, &st);
	CHECK_INT(flag, 1);
	CHECK_INT(st.MPI_SOURCE, MPI_PROC_NULL);
	/* alone */
	MPI_Request r;
	MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &r);
	MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&r, &st);
	CHECK_INT(value, rank);
	CHECK_INT(st.MPI_SOURCE, 0);
	MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 50, WORLD, &r);
	MPI_Ssend(&rank, 1, MPI_INT, rank, 50, WORLD);
	MPI_Wait(&r, &st);
	CHECK_INT(st.MPI_SOURCE, rank);
	/* a status made by hand */
	MPI_Status_set_elements(&st, MPI_INT, 12);
	MPI_Status_set_cancelled(&st, 1);
	MPI_Get_count(&st, MPI_INT, &n);
	MPI_Test_cancelled(&st, &flag);
	CHECK_INT(n, 12);
	CHECK_INT(flag, 1);
	return end();
}
