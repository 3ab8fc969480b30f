/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_ANY_SOURCE and MPI_ANY_TAG: work handed out, order kept per source, wildcards mixed with named receives.
 * twin: tcp=yes endpoints=3
 */
#include "../check.h"

#define N 40

/* Every other rank sends N numbered messages of changing length to rank 0, which takes them from anyone. */
static void flood(void)
{
	static int buf[5000], next[64];
	if (rank == 0) {
		for (int i = 0; i < N * (size - 1); i++) {
			MPI_Status st;
			int count;
			MPI_Recv(buf, 5000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &st);
			MPI_Get_count(&st, MPI_INT, &count);
			int k = next[st.MPI_SOURCE]++;
			CHECK_INT(st.MPI_TAG, k % 7);
			CHECK_INT(buf[0], k);
			CHECK_INT(count, k % 10 == 9 ? 5000 : 1 + k * 3);
			CHECK_INT(buf[count - 1], count > 1 ? st.MPI_SOURCE : k);
		}
		for (int r = 1; r < size; r++)
			printf("rank 0: %d messages from %d\n", next[r], r);
	} else {
		for (int k = 0; k < N; k++) {
			int count = k % 10 == 9 ? 5000 : 1 + k * 3;
			for (int i = 1; i < count; i++)
				buf[i] = rank;
			buf[0] = k;
			MPI_Send(buf, count, MPI_INT, 0, k % 7, WORLD);
		}
	}
}

/* Manager and workers: answers go to whoever asked. */
static void farm(void)
{
	enum { ASK, WORK, STOP, TASKS = 60 };
	int value, done = 0, sum = 0, next = 0;
	MPI_Status st;
	if (rank == 0) {
		while (done < size - 1) {
			MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, ASK, WORLD, &st);
			sum += value;
			if (next < TASKS) {
				next++;
				MPI_Send(&next, 1, MPI_INT, st.MPI_SOURCE, WORK, WORLD);
			} else {
				MPI_Send(&next, 0, MPI_INT, st.MPI_SOURCE, STOP, WORLD);
				done++;
			}
		}
		printf("rank 0: sum of squares %d\n", sum);
		CHECK_INT(sum, TASKS * (TASKS + 1) * (2 * TASKS + 1) / 6);
	} else {
		for (value = 0;; value *= value) {
			MPI_Send(&value, 1, MPI_INT, 0, ASK, WORLD);
			MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &st);
			if (st.MPI_TAG == STOP)
				break;
		}
	}
}

/* Posted receives are matched in the order in which they were posted, wildcard or not. */
static void posting_order(void)
{
	int in[6], out[3];
	MPI_Request r[6];
	MPI_Status st[6];
	for (int peer = 1; peer < size; peer++) {
		if (rank == 0) {
			MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &r[0]);
			MPI_Irecv(&in[1], 1, MPI_INT, peer, 5, WORLD, &r[1]);
			MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &r[2]);
			MPI_Send(NULL, 0, MPI_INT, peer, 1, WORLD);
			MPI_Waitall(3, r, st);
			for (int i = 0; i < 3; i++) {
				CHECK_INT(in[i], peer * 10 + i);
				CHECK_INT(st[i].MPI_SOURCE, peer);
				CHECK_INT(st[i].MPI_TAG, 5);
				printf("rank 0: receive %d had %d\n", i, in[i]);
			}
		} else if (rank == peer) {
			MPI_Recv(NULL, 0, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < 3; i++) {
				out[i] = peer * 10 + i;
				MPI_Send(&out[i], 1, MPI_INT, 0, 5, WORLD);
			}
		}
	}
	MPI_Barrier(WORLD);
}

/* All to all, every receive a wildcard, posted before and after the messages come. */
static void crowd(void)
{
	int in[64], out[64], seen = 0;
	MPI_Request r[128];
	MPI_Status st[128];
	for (int round = 0; round < 4; round++) {
		int n = 0;
		if (round % 2)
			MPI_Barrier(WORLD);
		for (int p = 0; p < size; p++)
			if (p != rank)
				MPI_Irecv(&in[n], 1, MPI_INT, MPI_ANY_SOURCE, round, WORLD, &r[n]), n++;
		for (int p = 0; p < size; p++)
			if (p != rank) {
				out[p] = rank * 1000 + p * 10 + round;
				MPI_Isend(&out[p], 1, MPI_INT, p, round, WORLD, &r[n++]);
			}
		MPI_Waitall(n, r, st);
		for (int i = 0; i < size - 1; i++) {
			CHECK_INT(in[i], st[i].MPI_SOURCE * 1000 + rank * 10 + round);
			seen += in[i];
		}
	}
	printf("rank %d: seen %d\n", rank, seen);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	flood();
	MPI_Barrier(WORLD); /* an early question would match flood's wildcard */
	farm();
	posting_order();
	crowd();
	return end();
}
