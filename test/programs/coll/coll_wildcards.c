/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receive from any source with any tag waits while collectives run on its communicator, and takes none of their
 * messages: also where a rank is alone in its cluster, and the collective's own messages go past that receive. twin:
 * layouts=1+3,2+2,1+1+2 endpoints=3
 */
#include "../check.h"

static MPI_Comm comm;
static int *out, *in;

static void prepare(int n)
{
	for (int i = 0; i < n * size; i++) {
		out[i] = rank * 1000000 + i;
		in[i] = -1;
	}
}

/* Checks the blocks that all ranks gave to all ranks. */
static void check_all(const char *what, int n)
{
	for (int p = 0; p < size; p++)
		for (int i = 0; i < n; i++)
			CHECK(in[p * n + i] == p * 1000000 + rank * n + i, "%s of %d: element %d from %d is %d", what,
				n, i, p, in[p * n + i]);
}

static void alltoall(int n)
{
	MPI_Request r;

	prepare(n);
	MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
	check_all("alltoall", n);
	prepare(n);
	MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, comm, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check_all("ialltoall", n);
	prepare(n);
	memcpy(in, out, sizeof(int) * (size_t)(n * size));
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, comm);
	check_all("alltoall in place", n);
}

static void alltoallv(int n)
{
	int counts[16], displs[16], bytes[16];
	MPI_Datatype types[16];

	for (int p = 0; p < size; p++) {
		counts[p] = n;
		displs[p] = p * n;
		bytes[p] = p * n * (int)sizeof(int);
		types[p] = MPI_INT;
	}
	prepare(n);
	MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm);
	check_all("alltoallv", n);
	prepare(n);
	MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm);
	check_all("alltoallw", n);
	prepare(n);
	memcpy(in, out, sizeof(int) * (size_t)(n * size));
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, in, counts, displs, MPI_INT, comm);
	check_all("alltoallv in place", n);
	prepare(n);
	memcpy(in, out, sizeof(int) * (size_t)(n * size));
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, bytes, types, comm);
	check_all("alltoallw in place", n);
}

/* Checks the other collectives by the final buffers of all ranks. */
static void others(int n)
{
	int *sum = malloc(sizeof(int) * (size_t)(n * size)), counts[16];

	prepare(n);
	MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
	for (int p = 0; p < size; p++)
		CHECK_INT(in[p * n + n - 1], p * 1000000 + n - 1);
	MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
	CHECK_INT(in[n - 1], size * (size - 1) / 2 * 1000000 + size * (n - 1));
	MPI_Scan(out, in, n, MPI_INT, MPI_SUM, comm);
	CHECK_INT(in[n - 1], rank * (rank + 1) / 2 * 1000000 + (rank + 1) * (n - 1));
	MPI_Exscan(out, in, n, MPI_INT, MPI_MAX, comm);
	if (rank > 0)
		CHECK_INT(in[n - 1], (rank - 1) * 1000000 + n - 1);
	for (int root = 0; root < size; root++) {
		MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, comm);
		if (rank == root)
			CHECK_INT(in[n * size - 1], (size - 1) * 1000000 + n - 1);
		MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, root, comm);
		CHECK_INT(in[n - 1], root * 1000000 + rank * n + n - 1);
		MPI_Bcast(in, n, MPI_INT, root, comm);
		CHECK_INT(in[n - 1], root * 1000000 + root * n + n - 1);
		MPI_Reduce(out, sum, n, MPI_INT, MPI_SUM, root, comm);
		if (rank == root)
			CHECK_INT(sum[n - 1], size * (size - 1) / 2 * 1000000 + size * (n - 1));
	}
	MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_MAX, comm);
	CHECK_INT(in[n - 1], (size - 1) * 1000000 + rank * n + n - 1);
	for (int p = 0; p < size; p++)
		counts[p] = n;
	MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_MAX, comm);
	CHECK_INT(in[n - 1], (size - 1) * 1000000 + rank * n + n - 1);
	MPI_Barrier(comm);
	free(sum);
}

/* On a ring in which every rank is its own neighbour, too. */
static void neighbors(int n)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size, sources[2] = {rank, before},
	    targets[2] = {rank, next};
	MPI_Comm world = comm;
	MPI_Status st;
	MPI_Request r;
	int got = -1;

	MPI_Dist_graph_create_adjacent(world, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&comm);
	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r);
	prepare(n);
	MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
	CHECK_INT(in[n - 1], rank * 1000000 + n - 1);
	CHECK_INT(in[2 * n - 1], before * 1000000 + 2 * n - 1);
	prepare(n);
	MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
	CHECK_INT(in[n - 1], rank * 1000000 + n - 1);
	CHECK_INT(in[2 * n - 1], before * 1000000 + n - 1);
	MPI_Send(&rank, 1, MPI_INT, next, 3, comm);
	MPI_Wait(&r, &st);
	CHECK_INT(got, before);
	CHECK_INT(st.MPI_SOURCE, before);
	MPI_Comm_free(&comm);
	comm = world;
}

int main(int argc, char **argv)
{
	static const int lengths[] = {1, 142, 3000};
	int next, got = -1;
	MPI_Status st;
	MPI_Request r;

	begin(&argc, &argv);
	next = (rank + 1) % size;
	MPI_Comm_dup(WORLD, &comm);
	out = malloc(sizeof(int) * (size_t)(3000 * size));
	in = malloc(sizeof(int) * (size_t)(3000 * size));
	for (int k = 0; k < 3; k++) {
		int n = lengths[k];
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r);
		alltoall(n);
		alltoallv(n);
		others(n);
		MPI_Send(&rank, 1, MPI_INT, next, 3 + k, comm);
		MPI_Wait(&r, &st);
		CHECK_INT(got, (rank + size - 1) % size);
		CHECK_INT(st.MPI_SOURCE, (rank + size - 1) % size);
		CHECK_INT(st.MPI_TAG, 3 + k);
		neighbors(n);
	}
	free(out);
	free(in);
	MPI_Comm_free(&comm);
	return end();
}
