/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies where MPICH 4.0.2 does not do what the standard says, or crashes: graphs with other neighbours to send to
 * than to receive from, questions to communicators without a topology, wrong arguments.
 * twin: native=no layouts=2+2,1+3,1+1+2
 */
#include "../check.h"

#define WRONG(call, class) CHECK(class_of(call) == class, "%s: class %d, not " #class, #call, class_of(call))

#define BIG 30000
static int sent[2 * BIG], got[2 * BIG];

/* All send to rank 0 and get nothing back; then no rank sends at all: from and to MPI_PROC_NULL. */
static void one_way(int n)
{
	MPI_Comm star;
	int zero[2] = {0, MPI_PROC_NULL}, from[32], counts[32], in = 0, all = size < 32 ? size : 32;
	MPI_Aint here[32];
	MPI_Datatype types[32];
	MPI_Request r;
	for (int i = 0; i < all; i++)
		if (i != 0 && rank == 0)
			from[in++] = i;
	from[in++] = MPI_PROC_NULL;
	int out = rank == 0 ? 0 : 2;
	MPI_Dist_graph_create_adjacent(WORLD, in, from, MPI_UNWEIGHTED, out, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&star);
	for (int i = 0; i < n; i++)
		sent[i] = rank * 7 + i;
	for (int i = 0; i < 32; i++) {
		counts[i] = n;
		here[i] = 0;
		types[i] = MPI_INT;
	}
	int *all_got = malloc((size_t)(in + 1) * (size_t)n * sizeof(int));
	MPI_Aint places[32];
	for (int i = 0; i < in; i++)
		places[i] = (in - 1 - i) * (MPI_Aint)n * (MPI_Aint)sizeof(int);
	for (int turn = 0; turn < 2; turn++) {
		memset(all_got, 0xff, (size_t)(in + 1) * (size_t)n * sizeof(int));
		if (turn == 0) {
			MPI_Neighbor_alltoallw(sent, counts, here, types, all_got, counts, places, types, star);
		} else {
			MPI_Ineighbor_alltoallw(sent, counts, here, types, all_got, counts, places, types, star, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
		for (int i = 0; i < in; i++)
			for (int k = 0; k < n; k++) {
				int want = from[i] == MPI_PROC_NULL ? -1 : from[i] * 7 + k;
				CHECK_INT(all_got[(in - 1 - i) * n + k], want);
			}
	}
	free(all_got);
	MPI_Comm_free(&star);
}

static void without(MPI_Comm c)
{
	int a[4], n, m;
	MPI_Aint d[4] = {0};
	MPI_Datatype t[4] = {MPI_INT};
	MPI_Request r;
	WRONG(MPI_Cart_get(c, 4, a, a, a), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Graph_neighbors(c, 0, 4, a), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Dist_graph_neighbors(c, 4, a, a, 4, a, a), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Dist_graph_neighbors_count(c, &n, &m, a), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, c), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, c), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Neighbor_alltoallv(sent, a, a, MPI_INT, got, a, a, MPI_INT, c), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Ineighbor_alltoallw(sent, a, d, t, got, a, d, t, c, &r), MPI_ERR_TOPOLOGY);
	WRONG(MPI_Neighbor_allgather_init(sent, 1, MPI_INT, got, 1, MPI_INT, c, MPI_INFO_NULL, &r), MPI_ERR_TOPOLOGY);
}

static void arguments(void)
{
	MPI_Comm c;
	int zero[2] = {2, 0}, below[2] = {-2, -2}, wide[2] = {1 << 20, 1 << 20}, some[8] = {0}, falls[2] = {1, 0},
	    far[4] = {9, 1, 1, 1}, one[1] = {1};
	WRONG(MPI_Cart_create(WORLD, 2, zero, some, 0, &c), MPI_ERR_DIMS);
	WRONG(MPI_Cart_create(WORLD, 2, below, some, 0, &c), MPI_ERR_DIMS);
	WRONG(MPI_Cart_create(WORLD, 2, wide, some, 0, &c), MPI_ERR_ARG);
	WRONG(MPI_Cart_map(WORLD, 2, wide, some, some), MPI_ERR_ARG);
	WRONG(MPI_Graph_create(WORLD, 2, falls, some, 0, &c), MPI_ERR_ARG);
	WRONG(MPI_Graph_create(WORLD, 1, one, far, 0, &c), MPI_ERR_ARG);
	WRONG(MPI_Graph_create(WORLD, -1, one, far, 0, &c), MPI_ERR_ARG);
	WRONG(MPI_Dist_graph_create_adjacent(WORLD, 1, far, MPI_UNWEIGHTED, 0, far, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		      &c),
		MPI_ERR_RANK);
	WRONG(MPI_Dist_graph_create_adjacent(WORLD, 1, one, MPI_UNWEIGHTED, 1, one, one, MPI_INFO_NULL, 0, &c),
		MPI_ERR_TOPOLOGY);
	WRONG(MPI_Dist_graph_create(WORLD, 1, far, one, one, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c), MPI_ERR_RANK);
	WRONG(MPI_Dist_graph_create(WORLD, 1, one, one, far, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c), MPI_ERR_RANK);
	WRONG(MPI_Dist_graph_create(WORLD, 1, one, below, one, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c), MPI_ERR_ARG);

	int dims[1] = {size}, counts[2] = {1, -1}, places[2] = {0, 1};
	MPI_Cart_create(WORLD, 1, dims, some, 0, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	WRONG(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, c), MPI_ERR_BUFFER);
	WRONG(MPI_Neighbor_alltoall(sent, -1, MPI_INT, got, 1, MPI_INT, c), MPI_ERR_COUNT);
	WRONG(MPI_Neighbor_alltoall(sent, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, c), MPI_ERR_TYPE);
	WRONG(MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, c), MPI_ERR_COUNT);
	/* and it still works */
	int mine = rank + 1, near[2] = {-5, -5};
	MPI_Neighbor_allgather(&mine, 1, MPI_INT, near, 1, MPI_INT, c);
	CHECK_INT(near[0], rank > 0 ? rank : -5);
	CHECK_INT(near[1], rank < size - 1 ? rank + 2 : -5);
	MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	one_way(1);
	one_way(1000);
	one_way(BIG);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	without(WORLD);
	arguments();
	return end();
}
