/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives that every rank starts in another order, with others in between (MPI-4.0 section 6.13), and
 * collectives with arbitrary values in arguments without significance. MPICH 4.0.2 forgets to copy a rank's own block
 * when a persistent allgather is started again. twin: native=no layouts=2+2,1+3,1+1+2 tcp=yes
 */
#include "../check.h"

#define REQUESTS 6
#define N 3000

static MPI_Status status[REQUESTS];
static int sum_in[N], sum_out[N], word[N], block[64], blocks[64 * 8], prefix[4], near[8];

static void init_all(MPI_Comm c, MPI_Request *r)
{
	MPI_Allreduce_init(sum_in, sum_out, N, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r[0]);
	MPI_Bcast_init(word, N, MPI_INT, size - 1, c, MPI_INFO_NULL, &r[1]);
	MPI_Allgather_init(block, 8, MPI_INT, blocks, 8, MPI_INT, c, MPI_INFO_NULL, &r[2]);
	MPI_Scan_init(&rank, prefix, 1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r[3]);
	MPI_Barrier_init(c, MPI_INFO_NULL, &r[4]);
	MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, near, 1, MPI_INT, c, MPI_INFO_NULL, &r[5]);
}

static void prepare(int round)
{
	for (int i = 0; i < N; i++) {
		sum_in[i] = rank + i * round;
		sum_out[i] = -1;
		word[i] = rank == size - 1 ? 5 * i + round : -1;
	}
	for (int i = 0; i < 8; i++)
		block[i] = 100 * round + 10 * rank + i;
	memset(blocks, 0xff, sizeof blocks);
	memset(near, 0xff, sizeof near);
}

static void check(int round)
{
	for (int i = 0; i < N; i++) {
		CHECK_INT(sum_out[i], size * (size - 1) / 2 + size * i * round);
		CHECK_INT(word[i], 5 * i + round);
	}
	for (int r = 0; r < size; r++)
		for (int i = 0; i < 8; i++)
			CHECK_INT(blocks[8 * r + i], 100 * round + 10 * r + i);
	CHECK_INT(prefix[0], rank * (rank + 1) / 2);
	CHECK_INT(near[0], (rank + size - 1) % size);
	CHECK_INT(near[1], (rank + 1) % size);
}

static void any_order(void)
{
	MPI_Comm ring;
	MPI_Request r[REQUESTS], other;
	int closed[1] = {1}, n[1] = {size}, total = 0;
	MPI_Cart_create(WORLD, 1, n, closed, 0, &ring);
	init_all(ring, r);
	for (int round = 1; round <= 6; round++) {
		prepare(round);
		/* another order in each rank and round */
		for (int i = 0; i < REQUESTS; i++) {
			int k = round % 2 ? (i + rank * round) % REQUESTS : (REQUESTS - i + rank + round) % REQUESTS;
			MPI_Start(&r[k]);
			if (i == 2)
				MPI_Iallreduce(&round, &total, 1, MPI_INT, MPI_SUM, ring, &other);
		}
		if (round % 3 == 0)
			MPI_Barrier(ring); /* while they are under way */
		MPI_Wait(&other, MPI_STATUS_IGNORE);
		CHECK_INT(total, size * round);
		MPI_Waitall(REQUESTS, r, status);
		check(round);
	}
	MPI_Comm_free(&ring);
	for (int i = 0; i < REQUESTS; i++)
		MPI_Request_free(&r[(i + rank) % REQUESTS]);
}

static void many(void)
{
	/* made and freed again and again: they do not use anything up */
	for (int i = 0; i < 100; i++) {
		MPI_Request r[2];
		int in = rank + i, out = -1;
		MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_MAX, WORLD, MPI_INFO_NULL, &r[0]);
		MPI_Barrier_init(WORLD, MPI_INFO_NULL, &r[1]);
		MPI_Start(&r[(i + rank) % 2]);
		MPI_Start(&r[(i + rank + 1) % 2]);
		MPI_Waitall(2, r, status);
		CHECK_INT(out, size - 1 + i);
		MPI_Request_free(&r[0]);
		MPI_Request_free(&r[1]);
	}
}

/* Away from the root MPI_Reduce has no receive buffer, whatever stands there. */
static void reduce_elsewhere(int root)
{
	MPI_Request q;
	int three[3] = {rank, 1, -rank}, sum[3] = {-1, -1, -1};
	void *there = rank == root ? (void *)sum : MPI_IN_PLACE;
	for (int form = 0; form < 3; form++) {
		memset(sum, 0xff, sizeof sum);
		if (form == 0) {
			MPI_Reduce(three, there, 3, MPI_INT, MPI_SUM, root, WORLD);
		} else if (form == 1) {
			MPI_Ireduce(three, there, 3, MPI_INT, MPI_SUM, root, WORLD, &q);
			MPI_Wait(&q, MPI_STATUS_IGNORE);
		} else {
			MPI_Reduce_init(three, there, 3, MPI_INT, MPI_SUM, root, WORLD, MPI_INFO_NULL, &q);
			MPI_Start(&q);
			MPI_Wait(&q, MPI_STATUS_IGNORE);
			MPI_Request_free(&q);
		}
		CHECK_INT(sum[0], rank == root ? size * (size - 1) / 2 : -1);
		CHECK_INT(sum[1], rank == root ? size : -1);
		CHECK_INT(sum[2], rank == root ? -size * (size - 1) / 2 : -1);
	}
}

/* MPI-4.0 sections 6.5 to 6.8: with MPI_IN_PLACE, and away from the root. */
static void meaningless(void)
{
	int all[64], counts[8], places[8], mine = rank * 3, root = size - 1, bad = rank == root;
	MPI_Datatype types[8];
	for (int r = 0; r < size; r++) {
		counts[r] = 1;
		places[r] = r;
		types[r] = MPI_INT;
	}
	all[rank] = mine;
	MPI_Gather(bad ? MPI_IN_PLACE : &mine, bad ? -1 : 1, bad ? MPI_DATATYPE_NULL : MPI_INT, bad ? all : NULL,
		bad ? 1 : -1, bad ? MPI_INT : MPI_DATATYPE_NULL, root, WORLD);
	MPI_Scatter(bad ? all : NULL, bad ? 1 : -1, bad ? MPI_INT : MPI_DATATYPE_NULL, bad ? MPI_IN_PLACE : &mine,
		bad ? -1 : 1, bad ? MPI_DATATYPE_NULL : MPI_INT, root, WORLD);
	CHECK_INT(mine, rank * 3);
	MPI_Gatherv(bad ? MPI_IN_PLACE : &mine, bad ? -1 : 1, bad ? MPI_DATATYPE_NULL : MPI_INT, bad ? all : NULL,
		bad ? counts : NULL, bad ? places : NULL, bad ? MPI_INT : MPI_DATATYPE_NULL, root, WORLD);
	MPI_Scatterv(bad ? all : NULL, bad ? counts : NULL, bad ? places : NULL, bad ? MPI_INT : MPI_DATATYPE_NULL,
		bad ? MPI_IN_PLACE : &mine, bad ? -1 : 1, bad ? MPI_DATATYPE_NULL : MPI_INT, root, WORLD);
	CHECK_INT(mine, rank * 3);
	reduce_elsewhere(root);
	all[rank] = mine;
	MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
	MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		CHECK_INT(all[r], 3 * r);
	for (int r = 0; r < size; r++)
		all[r] = 10 * rank + r;
	MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		CHECK_INT(all[r], 10 * r + rank);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		places[r] *= (int)sizeof(int);
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, places, types, WORLD);
	for (int r = 0; r < size; r++)
		CHECK_INT(all[r], 10 * r + rank);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	meaningless();
	any_order();
	many();
	return end();
}
