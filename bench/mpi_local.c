/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of calls that concern only the ranks of one cluster, rank 0 and rank 1. Prints a line for each operation,
 * "name ns", the median over batches. Further ranks (of another cluster) only wait.
 *
 *     mpi_local world|split     ranks are addressed on MPI_COMM_WORLD, or on a communicator of the first two
 */
#include "bench/mpi_bench.h"

#include <unistd.h>

#define BATCHES 41

static MPI_Comm comm;
static int me, peer;
static volatile int sink;

static void comm_rank(int calls)
{
	int rank;

	for (int i = 0; i < calls; i++) {
		MPI_Comm_rank(comm, &rank);
		sink = rank;
	}
}

static void send_self(int calls)
{
	long out = 1, in;
	MPI_Request r;

	for (int i = 0; i < calls; i++) {
		MPI_Irecv(&in, 1, MPI_LONG, me, 1, comm, &r);
		MPI_Send(&out, 1, MPI_LONG, me, 1, comm);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
}

static void recv_self(int calls)
{
	long out = 1, in;
	MPI_Request r;

	for (int i = 0; i < calls; i++) {
		MPI_Isend(&out, 1, MPI_LONG, me, 1, comm, &r);
		MPI_Recv(&in, 1, MPI_LONG, me, 1, comm, MPI_STATUS_IGNORE);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
}

static void iprobe(int calls)
{
	int flag;

	for (int i = 0; i < calls; i++)
		MPI_Iprobe(peer, 99, comm, &flag, MPI_STATUS_IGNORE);
}

static void ping_pong(int calls)
{
	long x = 1;

	for (int i = 0; i < calls; i++) {
		if (me == 0)
			MPI_Send(&x, 1, MPI_LONG, peer, 2, comm);
		MPI_Recv(&x, 1, MPI_LONG, peer, 2, comm, MPI_STATUS_IGNORE);
		if (me == 1)
			MPI_Send(&x, 1, MPI_LONG, peer, 2, comm);
	}
}

static void waitall(int calls)
{
	long out = 1, in;
	MPI_Request r[2];

	for (int i = 0; i < calls; i++) {
		MPI_Irecv(&in, 1, MPI_LONG, peer, 3, comm, &r[0]);
		MPI_Isend(&out, 1, MPI_LONG, peer, 3, comm, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
}

static void barrier(int calls)
{
	for (int i = 0; i < calls; i++)
		MPI_Barrier(comm);
}

static const struct operation {
	const char *name;
	void (*run)(int calls);
	int calls, both; /* both: both ranks run it, otherwise only rank 0 */
	int per;	 /* operations in a call: the time is divided by it, too */
	int split_only;	 /* on MPI_COMM_WORLD it is no local operation */
} operations[] = {
	{"Comm_rank", comm_rank, 20000, 0, 1, 0},
	{"Irecv+Send+Wait, self", send_self, 2000, 0, 1, 0},
	{"Isend+Recv+Wait, self", recv_self, 2000, 0, 1, 0},
	{"Iprobe, nothing there", iprobe, 5000, 0, 1, 0},
	{"Send+Recv, one way", ping_pong, 1000, 1, 2, 0},
	{"Irecv+Isend+Waitall", waitall, 1000, 1, 1, 0},
	{"Barrier", barrier, 1000, 1, 1, 1},
};

static void measure(const struct operation *op)
{
	double times[BATCHES];

	for (int b = -2; b < BATCHES; b++) {
		if (op->both)
			MPI_Sendrecv(&b, 1, MPI_INT, peer, 4, &(int){0}, 1, MPI_INT, peer, 4, comm, MPI_STATUS_IGNORE);
		double start = MPI_Wtime();
		if (op->both || me == 0)
			op->run(op->calls);
		if (b >= 0)
			times[b] = (MPI_Wtime() - start) / op->calls / op->per * 1e9;
	}
	if (me == 0)
		printf("%s: %.1f\n", op->name, median(times, BATCHES));
	/* A rank that only waits sleeps, and leaves its core to other processes. */
	int done = 0, token = 0;
	if (me == 0) {
		MPI_Send(&token, 1, MPI_INT, peer, 5, comm);
	} else {
		while (MPI_Iprobe(peer, 5, comm, &done, MPI_STATUS_IGNORE), !done)
			usleep(200);
		MPI_Recv(&token, 1, MPI_INT, peer, 5, comm, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank, size, split;

	MPI_Init(&argc, &argv);
	split = argc < 2 || strcmp(argv[1], "world") != 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	me = rank;
	peer = 1 - rank;
	comm = MPI_COMM_WORLD;
	/* The world communicates as a whole first, so that its bridge is in use. */
	MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (split)
		MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &comm);
	for (size_t i = 0; rank < 2 && i < sizeof(operations) / sizeof(operations[0]); i++)
		if (split || !operations[i].split_only)
			measure(&operations[i]);
	if (split)
		MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
