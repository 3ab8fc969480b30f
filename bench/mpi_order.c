/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the order of a program's messages as a program file, zipmap-time(1): a library for LD_PRELOAD. Each rank
 * writes ORDER.rank, where ORDER is in the environment; together, behind "ranks N", they are the file. Knows the calls
 * that the programs of bench/replay make, on MPI_COMM_WORLD. MPI_Pcontrol(N) begins phase N. One thread.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUESTS 4096

static FILE *out;
static int rank;
static double left;		    /* when the rank went on computing */
static MPI_Request known[REQUESTS]; /* by their numbers; MPI_REQUEST_NULL: unused */

static void enter(void)
{
	double now = PMPI_Wtime();

	if (out && now > left)
		fprintf(out, "%d compute %.9f\n", rank, now - left);
}

static int leave(int rc)
{
	left = PMPI_Wtime();
	return rc;
}

static long bytes(int count, MPI_Datatype type)
{
	int size;

	PMPI_Type_size(type, &size);
	return (long)count * size;
}

static void begin(void)
{
	char path[4096];

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < REQUESTS; i++)
		known[i] = MPI_REQUEST_NULL;
	if (!getenv("ORDER"))
		return;
	snprintf(path, sizeof(path), "%s.%d", getenv("ORDER"), rank);
	out = fopen(path, "w");
	left = PMPI_Wtime();
}

int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	begin();
	return rc;
}

int MPI_Finalize(void)
{
	enter();
	if (out)
		fclose(out);
	out = NULL;
	return PMPI_Finalize();
}

int MPI_Pcontrol(const int level, ...)
{
	if (out)
		fprintf(out, "%d phase %d\n", rank, level > 0 ? level : 1);
	return MPI_SUCCESS;
}

/* A number for the request, which the rank waits for by it. */
static void request_add(MPI_Request request)
{
	int i = 0;

	while (i < REQUESTS && known[i] != MPI_REQUEST_NULL)
		i++;
	if (i == REQUESTS)
		PMPI_Abort(MPI_COMM_WORLD, 4);
	known[i] = request;
	if (out)
		fprintf(out, " request:%d\n", i);
}

static void request_end(MPI_Request request)
{
	for (int i = 0; i < REQUESTS; i++)
		if (known[i] == request && request != MPI_REQUEST_NULL) {
			known[i] = MPI_REQUEST_NULL;
			if (out)
				fprintf(out, "%d wait %d\n", rank, i);
			return;
		}
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	enter();
	if (out && dest != MPI_PROC_NULL)
		fprintf(out, "%d send %d %ld tag:%d\n", rank, dest, bytes(count, type), tag);
	return leave(PMPI_Send(buf, count, type, dest, tag, comm));
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	enter();
	if (out && source != MPI_PROC_NULL)
		fprintf(out, "%d recv %d tag:%d\n", rank, source, tag);
	return leave(PMPI_Recv(buf, count, type, source, tag, comm, status));
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	int rc;

	enter();
	rc = PMPI_Isend(buf, count, type, dest, tag, comm, request);
	if (out)
		fprintf(out, "%d isend %d %ld tag:%d", rank, dest, bytes(count, type), tag);
	request_add(*request);
	return leave(rc);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	int rc;

	enter();
	rc = PMPI_Irecv(buf, count, type, source, tag, comm, request);
	if (out)
		fprintf(out, "%d irecv %d tag:%d", rank, source, tag);
	request_add(*request);
	return leave(rc);
}

int MPI_Waitall(int n, MPI_Request *request, MPI_Status *status)
{
	enter();
	for (int i = 0; i < n; i++)
		request_end(request[i]);
	return leave(PMPI_Waitall(n, request, status));
}

int MPI_Barrier(MPI_Comm comm)
{
	enter();
	if (out)
		fprintf(out, "%d barrier\n", rank);
	return leave(PMPI_Barrier(comm));
}
