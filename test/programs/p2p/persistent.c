/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests of all kinds, started alone and together, many times, tested while inactive. twin: endpoints=3 */
#include "../check.h"

#define LEN 30000

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size, old, flag, sum = 0;
	static int out[5][LEN], in[5][LEN];
	static const int len[5] = {1, 100, 3000, LEN, 0};
	MPI_Request r[10];
	MPI_Status st[10];
	int room = 3000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
	void *attached = malloc(room);
	MPI_Buffer_attach(attached, room);

	for (int i = 0; i < 5; i++)
		MPI_Recv_init(in[i], LEN, MPI_INT, i == 1 ? MPI_ANY_SOURCE : prev, i == 2 ? MPI_ANY_TAG : 10 + i, WORLD,
			&r[i]);
	MPI_Send_init(out[0], len[0], MPI_INT, next, 10, WORLD, &r[5]);
	MPI_Ssend_init(out[1], len[1], MPI_INT, next, 11, WORLD, &r[6]);
	MPI_Bsend_init(out[2], len[2], MPI_INT, next, 12, WORLD, &r[7]);
	MPI_Send_init(out[3], len[3], MPI_INT, next, 13, WORLD, &r[8]);
	MPI_Rsend_init(out[4], len[4], MPI_INT, next, 14, WORLD, &r[9]);

	/* inactive: complete at once, with an empty status */
	MPI_Wait(&r[0], &st[0]);
	CHECK_INT(st[0].MPI_SOURCE, MPI_ANY_SOURCE);
	CHECK_INT(st[0].MPI_TAG, MPI_ANY_TAG);
	MPI_Testall(10, r, &flag, st);
	CHECK_INT(flag, 1);
	CHECK(r[0] != MPI_REQUEST_NULL, "persistent request stays");

	for (int cycle = 0; cycle < 8; cycle++) {
		for (int i = 0; i < 5; i++)
			for (int k = 0; k < len[i]; k++)
				out[i][k] = rank * 1000000 + cycle * 10000 + i * 1000 + k % 997;
		if (cycle % 2) {
			/* the receive with any tag would take another one's message: started first and alone for its
			 * tag */
			MPI_Start(&r[2]);
			MPI_Start(&r[7]);
			MPI_Wait(&r[2], &st[2]);
			MPI_Wait(&r[7], MPI_STATUS_IGNORE);
			MPI_Barrier(WORLD);
			MPI_Start(&r[0]), MPI_Start(&r[1]), MPI_Start(&r[3]), MPI_Start(&r[4]);
			MPI_Barrier(WORLD); /* ready mode */
			MPI_Start(&r[5]), MPI_Start(&r[6]), MPI_Start(&r[8]), MPI_Start(&r[9]);
			MPI_Wait(&r[9], MPI_STATUS_IGNORE);
			for (int i = 0; i < 5; i++)
				if (i != 2)
					MPI_Wait(&r[i], &st[i]);
			MPI_Waitall(10, r, MPI_STATUSES_IGNORE);
		} else {
			MPI_Startall(1, &r[2]);
			MPI_Startall(1, &r[7]);
			do
				MPI_Test(&r[2], &flag, &st[2]);
			while (!flag);
			MPI_Wait(&r[7], MPI_STATUS_IGNORE);
			MPI_Barrier(WORLD);
			MPI_Startall(2, &r[0]);
			MPI_Startall(2, &r[3]);
			MPI_Barrier(WORLD);
			MPI_Startall(2, &r[5]);
			MPI_Startall(2, &r[8]);
			MPI_Status two = st[2];
			MPI_Waitall(10, r, st);
			CHECK_INT(st[2].MPI_SOURCE, MPI_ANY_SOURCE); /* it was inactive */
			st[2] = two;
		}
		for (int i = 0; i < 5; i++) {
			int count;
			MPI_Get_count(&st[i], MPI_INT, &count);
			CHECK_INT(count, len[i]);
			CHECK_INT(st[i].MPI_SOURCE, prev);
			CHECK_INT(st[i].MPI_TAG, 10 + i);
			for (int k = 0; k < count; k++)
				CHECK_INT(in[i][k], prev * 1000000 + cycle * 10000 + i * 1000 + k % 997);
			sum += count ? in[i][count - 1] : 0;
		}
		MPI_Barrier(WORLD);
	}
	for (int i = 0; i < 10; i++) {
		MPI_Request_free(&r[i]);
		CHECK(r[i] == MPI_REQUEST_NULL, "null after free");
	}
	MPI_Buffer_detach(&attached, &old);
	printf("rank %d: sum %d\n", rank, sum);
	return end();
}
