/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of recording a call (ZIPPER_PROFILE): batches with recording and without it (MPI_Pcontrol(0)) in turns in
 * one process, so that other work on the machine hits both. One rank. Prints the medians, "name on off difference", in
 * ns. Without ZIPPER_PROFILE the difference is the noise.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCHES 401
#define CALLS 2000

static MPI_Comm comm;
static MPI_Request persistent[2];
static MPI_Win window;

static void send_one(void)
{
	long out = 1, in;
	MPI_Request r;

	MPI_Irecv(&in, 1, MPI_LONG, 0, 1, comm, &r);
	MPI_Send(&out, 1, MPI_LONG, 0, 1, comm);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void start_one(void)
{
	MPI_Startall(2, persistent);
	MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
}

static void bcast_one(void)
{
	long v = 0;

	MPI_Bcast(&v, 1, MPI_LONG, 0, comm);
}

static void reduce_two(void)
{
	long v = 0, sum;

	MPI_Allreduce(&v, &sum, 1, MPI_LONG, MPI_SUM, comm);
	MPI_Allreduce(&v, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_SELF);
}

static void alltoallv_one(void)
{
	static const int one[1] = {1}, zero[1] = {0};
	long v = 0, w;

	MPI_Alltoallv(&v, one, zero, MPI_LONG, &w, one, zero, MPI_LONG, comm);
}

static void put_one(void)
{
	long v = 0;

	MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double batch(void (*call)(void))
{
	double start = MPI_Wtime();

	for (int i = 0; i < CALLS; i++)
		call();
	return (MPI_Wtime() - start) * 1e9 / CALLS;
}

static void measure(const char *name, void (*call)(void))
{
	static double ns[2][BATCHES];

	for (int i = 0; i < BATCHES; i++)
		for (int on = 0; on < 2; on++) {
			MPI_Pcontrol(on);
			ns[on][i] = batch(call);
		}
	for (int on = 0; on < 2; on++)
		qsort(ns[on], BATCHES, sizeof(double), compare);
	printf("%-24s %9.1f %9.1f %9.1f\n", name, ns[1][BATCHES / 2], ns[0][BATCHES / 2],
		ns[1][BATCHES / 2] - ns[0][BATCHES / 2]);
}

int main(int argc, char **argv)
{
	long out = 0, in, memory[1];

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Send_init(&out, 1, MPI_LONG, 0, 2, comm, &persistent[0]);
	MPI_Recv_init(&in, 1, MPI_LONG, 0, 2, comm, &persistent[1]);
	MPI_Win_create(memory, sizeof(memory), sizeof(long), MPI_INFO_NULL, comm, &window);
	MPI_Win_fence(0, window);
	measure("Irecv+Send+Wait", send_one);
	measure("Startall+Waitall", start_one);
	measure("Bcast", bcast_one);
	measure("Allreduce, 2 comms", reduce_two);
	measure("Alltoallv", alltoallv_one);
	measure("Put", put_one);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	MPI_Request_free(&persistent[0]);
	MPI_Request_free(&persistent[1]);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
