/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every form of sending, each in a phase of its own (MPI_Pcontrol), for the recorder. Rank 0 prints what shall be found
 * in each phase, summed over all ranks (3 at least): lines "PHASE CLASS PAIRS BYTES MESSAGES". Forms that a spanning
 * communicator does not have are left out there, with a line on standard error.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 100 /* of each message; phases differ by their number */

static int n, rank, left, right, phase = 1; /* phase 1 is what comes before and between: nothing */
static char out[64 * 4096], in[64 * 4096];

static void expect(const char *class, long long pairs, long long bytes, long long messages)
{
	if (rank == 0 && pairs)
		printf("%d %s %lld %lld %lld\n", phase, class, pairs, bytes, messages);
}

/* Between the forms nothing is recorded. */
static void begin(void)
{
	MPI_Pcontrol(0);
	MPI_Barrier(MPI_COMM_WORLD);
	phase++;
}

/* --- point-to-point: each rank sends to the right and receives from the left --- */

static MPI_Request receive;

static void ready(int bytes)
{
	begin();
	MPI_Irecv(in, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &receive);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Pcontrol(phase);
}

static void done(int bytes, int messages)
{
	MPI_Wait(&receive, MPI_STATUS_IGNORE);
	MPI_Pcontrol(0);
	expect("p2p", n, (long long)bytes * n, (long long)messages * n);
}

#define SEND(name)                                                                                                     \
	do {                                                                                                           \
		ready(BYTES);                                                                                          \
		MPI_##name(out, BYTES, MPI_CHAR, right, 1, MPI_COMM_WORLD);                                            \
		MPI_##name(out, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);                                    \
		done(BYTES, 1);                                                                                        \
	} while (0)
#define ISEND(name)                                                                                                    \
	do {                                                                                                           \
		MPI_Request r;                                                                                         \
		ready(BYTES + 1);                                                                                      \
		MPI_##name(out, BYTES + 1, MPI_CHAR, right, 1, MPI_COMM_WORLD, &r);                                    \
		MPI_Wait(&r, MPI_STATUS_IGNORE);                                                                       \
		done(BYTES + 1, 1);                                                                                    \
	} while (0)
/* Made in another phase than started; one start of each kind. */
#define SEND_INIT(name)                                                                                                \
	do {                                                                                                           \
		MPI_Request r, again;                                                                                  \
		MPI_##name(out, BYTES + 2, MPI_CHAR, right, 1, MPI_COMM_WORLD, &r);                                    \
		ready(BYTES + 2);                                                                                      \
		MPI_Irecv(in + 2000, BYTES + 2, MPI_CHAR, left, 1, MPI_COMM_WORLD, &again);                            \
		MPI_Pcontrol(0);                                                                                       \
		MPI_Barrier(MPI_COMM_WORLD);                                                                           \
		MPI_Pcontrol(phase);                                                                                   \
		MPI_Start(&r);                                                                                         \
		MPI_Wait(&r, MPI_STATUS_IGNORE);                                                                       \
		MPI_Startall(1, &r);                                                                                   \
		MPI_Wait(&r, MPI_STATUS_IGNORE);                                                                       \
		MPI_Request_free(&r);                                                                                  \
		MPI_Wait(&again, MPI_STATUS_IGNORE);                                                                   \
		done(2 * (BYTES + 2), 2);                                                                              \
	} while (0)

static void exchanges(void)
{
	MPI_Request r;

	begin();
	MPI_Pcontrol(phase);
	MPI_Sendrecv(out, 7, MPI_INT, right, 1, in, 7, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("p2p", n, 28LL * n, n);
	begin();
	MPI_Pcontrol(phase);
	MPI_Sendrecv_replace(out, 9, MPI_CHAR, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("p2p", n, 9LL * n, n);
	begin();
	MPI_Pcontrol(phase);
	MPI_Isendrecv(out, 7, MPI_INT, right, 1, in, 7, MPI_INT, left, 1, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	expect("p2p", n, 28LL * n, n);
	begin();
	MPI_Pcontrol(phase);
	MPI_Isendrecv_replace(out, 9, MPI_CHAR, right, 1, left, 1, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	expect("p2p", n, 9LL * n, n);
}

/* A vector with gaps, a message without bytes, one to itself, and a receiver that probes. */
static void special_messages(void)
{
	MPI_Datatype gaps;
	MPI_Message message;
	MPI_Request r;
	MPI_Status status;

	MPI_Type_vector(5, 2, 7, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	ready(3 * 40);
	MPI_Send(out, 3, gaps, right, 1, MPI_COMM_WORLD);
	done(3 * 40, 1);
	MPI_Type_free(&gaps);
	ready(0);
	MPI_Send(NULL, 0, MPI_CHAR, right, 1, MPI_COMM_WORLD);
	done(0, 1);
	begin();
	MPI_Pcontrol(phase);
	MPI_Isend(out, 50, MPI_CHAR, right, 2, MPI_COMM_WORLD, &r);
	MPI_Mprobe(left, 2, MPI_COMM_WORLD, &message, &status);
	MPI_Mrecv(in, 50, MPI_CHAR, &message, &status);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	expect("p2p", n, 50LL * n, n);
	/* "pairs" are pairs of different ranks; bytes are those of all pairs */
	begin();
	MPI_Pcontrol(phase);
	MPI_Isend(out, 10, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &r);
	MPI_Recv(in, 10, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, 1, MPI_CHAR, right, 1, in, 1, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	/* of nothing MPICH takes any type */
	MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, right, 1, NULL, 0, MPI_DATATYPE_NULL, left, 1, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	expect("p2p", n, 11LL * n, 3LL * n);
}

static void partitioned(void)
{
	MPI_Request r, from;

	begin();
	MPI_Psend_init(out, 4, 25, MPI_CHAR, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	MPI_Precv_init(in, 4, 25, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &from);
	MPI_Pcontrol(phase);
	for (int twice = 0; twice < 2; twice++) {
		MPI_Start(&from);
		MPI_Start(&r);
		MPI_Pready_range(0, 3, r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Wait(&from, MPI_STATUS_IGNORE);
	}
	expect("p2p", n, 2LL * 100 * n, 2LL * n);
	MPI_Request_free(&r);
	MPI_Request_free(&from);
}

/* Sums over the binomial tree of n ranks: how many ranks are below the edges. */
static long long below(void)
{
	long long sum = 0;

	for (int v = 1; v < n; v++)
		sum += (v & -v) < n - v ? (v & -v) : n - v;
	return sum;
}

/* --- collectives: blocking, nonblocking, persistent --- */

static MPI_Request started;

static int finish(int rc)
{
	if (rc == MPI_SUCCESS)
		rc = MPI_Wait(&started, MPI_STATUS_IGNORE);
	return rc;
}

/* MPICH 4.0.2 does not survive the second start of a persistent scatter, gather and others. */
static int starts = 2;

static void start_all(void)
{
	for (int i = 0; i < starts; i++) {
		MPI_Start(&started);
		MPI_Wait(&started, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&started);
}

/* pairs, bytes and messages of one call */
#define COLLECTIVE(Name, Iname, pairs, bytes, messages, ...)                                                           \
	do {                                                                                                           \
		begin();                                                                                               \
		MPI_Pcontrol(phase);                                                                                   \
		MPI_##Name(__VA_ARGS__);                                                                               \
		expect("collective", pairs, bytes, messages);                                                          \
		begin();                                                                                               \
		MPI_Pcontrol(phase);                                                                                   \
		finish(MPI_##Iname(__VA_ARGS__, &started));                                                            \
		expect("collective", pairs, bytes, messages);                                                          \
		begin();                                                                                               \
		MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &started);                                               \
		MPI_Pcontrol(phase);                                                                                   \
		start_all();                                                                                           \
		expect("collective", pairs, starts *(bytes), starts *(messages));                                      \
	} while (0)

static void collectives(void)
{
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Datatype types[64];
	int counts[64], places[64], zeros[64], root = n > 2 ? 2 : 0, steps = 0;
	long long edges = n - 1, all = (long long)n * (n - 1), total = 0;

	for (int i = 0; i < n; i++) {
		counts[i] = i; /* the first one sends and gets nothing */
		places[i] = 64 * i;
		zeros[i] = i == right ? 3 : 0;
		types[i] = MPI_INT;
		total += i;
	}
	while (1 << steps < n)
		steps++;
	COLLECTIVE(Barrier, Ibarrier, (long long)n * steps, 0, (long long)n * steps, c);
	COLLECTIVE(Bcast, Ibcast, edges, 40 * edges, edges, out, 10, MPI_INT, root, c);
	COLLECTIVE(Reduce, Ireduce, edges, 40 * edges, edges, out, in, 10, MPI_INT, MPI_SUM, root, c);
	COLLECTIVE(Allreduce, Iallreduce, 2 * edges, 80 * edges, 2 * edges, out, in, 10, MPI_INT, MPI_SUM, c);
	starts = 1;
	COLLECTIVE(Gather, Igather, edges, 8 * below(), edges, out, 2, MPI_INT, in, 2, MPI_INT, root, c);
	COLLECTIVE(Scatter, Iscatter, edges, 8 * below(), edges, out, 2, MPI_INT, in, 2, MPI_INT, root, c);
	/* of a block of 0 bytes there is no message */
	COLLECTIVE(Gatherv, Igatherv, edges - (root != 0), 4 * (total - root), edges - (root != 0), out, rank, MPI_INT,
		in, counts, places, MPI_INT, root, c);
	COLLECTIVE(Scatterv, Iscatterv, edges - (root != 0), 4 * (total - root), edges - (root != 0), out, counts,
		places, MPI_INT, in, rank, MPI_INT, root, c);
	COLLECTIVE(Allgather, Iallgather, n, 12 * all, all, out, 3, MPI_INT, in, 3, MPI_INT, c);
	/* each rank passes on all blocks except that of the next rank */
	COLLECTIVE(Allgatherv, Iallgatherv, n, 4 * edges * total, all, out, rank, MPI_INT, in, counts, places, MPI_INT,
		c);
	COLLECTIVE(Alltoall, Ialltoall, all, 4 * all, all, out, 1, MPI_INT, in, 1, MPI_INT, c);
	COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, all, 8 * all, all, out, in, 2, MPI_INT, MPI_SUM, c);
	COLLECTIVE(Reduce_scatter, Ireduce_scatter, edges * edges, 4 * edges * total, edges * edges, out, in, counts,
		MPI_INT, MPI_SUM, c);
	COLLECTIVE(Scan, Iscan, edges, 40 * edges, edges, out, in, 10, MPI_INT, MPI_SUM, c);
	COLLECTIVE(Exscan, Iexscan, edges, 40 * edges, edges, out, in, 10, MPI_INT, MPI_SUM, c);
	int from_left[64] = {0};
	from_left[left] = 3;
	COLLECTIVE(Alltoallv, Ialltoallv, n, 12LL * n, n, out, zeros, places, MPI_INT, in, from_left, places, MPI_INT,
		c);
	COLLECTIVE(Alltoallw, Ialltoallw, n, 12LL * n, n, out, zeros, places, types, in, from_left, places, types, c);
	/* in place: what stands in the receive arguments counts */
	begin();
	MPI_Pcontrol(phase);
	MPI_Allgather(MPI_IN_PLACE, 77, MPI_INT, in, 3, MPI_INT, c);
	MPI_Alltoall(MPI_IN_PLACE, 77, MPI_INT, in, 2, MPI_INT, c);
	expect("collective", all, 12 * all + 8 * all, 2 * all);
}

static void neighbours(void)
{
	MPI_Comm c;
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Aint moves[2] = {0, 64};
	int dims[1], periods[1] = {1}, counts[2] = {1, 3}, back[2] = {3, 1}, places[2] = {0, 16};

	dims[0] = n;
	begin();
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c);
	COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, 2LL * n, 16LL * n, 2LL * n, out, 2, MPI_INT, in, 2, MPI_INT,
		c);
	COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, 2LL * n, 16LL * n, 2LL * n, out, 2, MPI_INT, in, 2, MPI_INT,
		c);
	COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, 2LL * n, 16LL * n, 2LL * n, out, counts, places, MPI_INT,
		in, back, places, MPI_INT, c);
	COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, 2LL * n, 16LL * n, 2LL * n, out, counts, moves, types, in,
		back, moves, types, c);
	MPI_Pcontrol(0);
	MPI_Comm_free(&c);
}

/* --- one-sided --- */

static void one_sided(void)
{
	static long memory[64], local[64], result[64];
	MPI_Win w;
	MPI_Request r;

	begin();
	MPI_Win_create(memory, sizeof(memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Pcontrol(phase);
	MPI_Win_lock_all(0, w);
	MPI_Put(local, 5, MPI_LONG, right, 0, 5, MPI_LONG, w);
	MPI_Accumulate(local, 1, MPI_LONG, right, 8, 1, MPI_LONG, MPI_SUM, w);
	MPI_Rput(local, 2, MPI_LONG, right, 16, 2, MPI_LONG, w, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(w);
	expect("put", n, 64LL * n, 3LL * n);
	begin();
	MPI_Pcontrol(phase);
	MPI_Get(local, 5, MPI_LONG, right, 0, 5, MPI_LONG, w);
	MPI_Rget(result, 1, MPI_LONG, right, 8, 1, MPI_LONG, w, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(w);
	expect("get", n, 48LL * n, 2LL * n);
	begin();
	MPI_Pcontrol(phase);
	MPI_Fetch_and_op(local, result, MPI_LONG, right, 0, MPI_SUM, w);
	MPI_Fetch_and_op(local, result, MPI_LONG, right, 0, MPI_NO_OP, w);
	MPI_Compare_and_swap(local, local, result, MPI_LONG, right, 1, w);
	MPI_Get_accumulate(local, 2, MPI_LONG, result, 2, MPI_LONG, right, 2, 2, MPI_LONG, MPI_SUM, w);
	MPI_Win_flush_all(w);
	expect("put", n, 32LL * n, 3LL * n);
	expect("get", n, 40LL * n, 4LL * n);
	MPI_Pcontrol(0);
	MPI_Win_unlock_all(w);
	MPI_Win_free(&w);
}

/* --- communicators whose ranks are others than the world's --- */

static void communicators(void)
{
	MPI_Comm reversed, half, between;
	int r, size;

	begin();
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_rank(reversed, &r);
	MPI_Pcontrol(phase);
	/* from rank 0 there, which is the last here, to the others */
	if (r == 0)
		for (int i = 1; i < n; i++)
			MPI_Send(out, i, MPI_CHAR, i, 0, reversed);
	else
		MPI_Recv(in, n, MPI_CHAR, 0, 0, reversed, MPI_STATUS_IGNORE);
	if (rank == 0)
		for (int i = 1; i < n; i++)
			printf("edge %d %d %d %d 1\n", phase, n - 1, n - 1 - i, i);
	expect("p2p", n - 1, (long long)n * (n - 1) / 2, n - 1);
	MPI_Pcontrol(0);
	MPI_Comm_free(&reversed);
	begin();
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_size(half, &size);
	MPI_Comm_rank(half, &r);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
	MPI_Pcontrol(phase);
	if (r == 0)
		MPI_Sendrecv(out, 20, MPI_CHAR, 0, 0, in, 20, MPI_CHAR, 0, 0, between, MPI_STATUS_IGNORE);
	expect("p2p", 2, 40, 2);
	if (rank == 0)
		printf("edge %d 0 1 20 1\nedge %d 1 0 20 1\n", phase, phase);
	MPI_Pcontrol(0);
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
	/* below 0: phase 1 */
	MPI_Pcontrol(-phase);
	MPI_Sendrecv(out, 3, MPI_CHAR, right, 1, in, 3, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	phase = 1;
	expect("p2p", n, 3LL * n, n);
}

int main(int argc, char **argv)
{
	static char buffer[100000];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	right = (rank + 1) % n;
	left = (rank + n - 1) % n;
	MPI_Buffer_attach(buffer, sizeof(buffer));
	SEND(Send);
	SEND(Bsend);
	SEND(Ssend);
	SEND(Rsend);
	ISEND(Isend);
	ISEND(Ibsend);
	ISEND(Issend);
	ISEND(Irsend);
	SEND_INIT(Send_init);
	SEND_INIT(Bsend_init);
	SEND_INIT(Ssend_init);
	SEND_INIT(Rsend_init);
	exchanges();
	special_messages();
	collectives();
	partitioned();
	neighbours();
	one_sided();
	communicators();
	MPI_Finalize();
	return 0;
}
