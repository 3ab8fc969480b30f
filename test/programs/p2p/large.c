/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of many fragments in both directions at once, and the large-count forms of the functions.
 * twin: tcp=yes one_sided=yes
 */
#include "../check.h"

#define MAX (24u << 20)

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	char *out = malloc(MAX), *in = malloc(MAX);
	static const size_t lens[] = {1u << 20, (4u << 20) + 1, MAX};
	for (int i = 0; i < 3; i++) {
		int peer = size - 1 - rank;
		MPI_Request r[2];
		MPI_Status st;
		MPI_Count n;
		if (peer == rank)
			continue;
		fill(out, lens[i], rank + i);
		memset(in, 0, lens[i]);
		MPI_Irecv_c(in, lens[i], MPI_BYTE, peer, i, WORLD, &r[0]);
		MPI_Isend_c(out, lens[i], MPI_BYTE, peer, i, WORLD, &r[1]);
		MPI_Wait(&r[0], &st);
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Get_count_c(&st, MPI_BYTE, &n);
		CHECK_INT(n, lens[i]);
		CHECK(filled(in, lens[i], peer + i), "contents");
		printf("rank %d: %lld bytes %08x\n", rank, (long long)n, digest(in, lens[i]));
	}
	int next = (rank + 1) % size, prev = (rank + size - 1) % size, value = rank, got = -1;
	MPI_Count counts[64], one = 1;
	MPI_Aint displs[64];
	MPI_Status st;
	MPI_Sendrecv_c(&value, one, MPI_INT, next, 1, &got, one, MPI_INT, prev, 1, WORLD, &st);
	CHECK_INT(got, prev);
	MPI_Request r;
	MPI_Irecv_c(&got, one, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &r);
	MPI_Ssend_c(&value, one, MPI_INT, prev, 2, WORLD);
	MPI_Wait(&r, &st);
	CHECK_INT(got, next);
	MPI_Bcast_c(in, 100000, MPI_BYTE, size - 1, WORLD);
	MPI_Allreduce_c(&rank, &got, one, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(got, size * (size - 1) / 2);
	int all[64], sum = 0;
	MPI_Allgather_c(&rank, one, MPI_INT, all, one, MPI_INT, WORLD);
	for (int p = 0; p < size; p++) {
		CHECK_INT(all[p], p);
		counts[p] = 1;
		displs[p] = size - 1 - p;
	}
	MPI_Allgatherv_c(&rank, one, MPI_INT, all, counts, displs, MPI_INT, WORLD);
	for (int p = 0; p < size; p++)
		CHECK_INT(all[size - 1 - p], p);
	MPI_Scan_c(&rank, &sum, one, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(sum, rank * (rank + 1) / 2);
	int send[64], recv[64];
	for (int p = 0; p < size; p++)
		send[p] = rank * 100 + p;
	MPI_Alltoall_c(send, one, MPI_INT, recv, one, MPI_INT, WORLD);
	for (int p = 0; p < size; p++)
		CHECK_INT(recv[p], p * 100 + rank);
	MPI_Alltoallv_c(send, counts, displs, MPI_INT, recv, counts, displs, MPI_INT, WORLD);
	MPI_Reduce_c(&rank, &got, one, MPI_INT, MPI_MAX, 0, WORLD);
	MPI_Gather_c(&rank, one, MPI_INT, all, one, MPI_INT, size - 1, WORLD);
	MPI_Scatter_c(send, one, MPI_INT, &got, one, MPI_INT, 0, WORLD);
	CHECK_INT(got, rank);
	return end();
}
