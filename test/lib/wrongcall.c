/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into an MPI program: WRONG_CALL (the environment) is a function and a number, as MPI_Recv:3. What rank 1
 * gets from that call of the function has a wrong bit: the second-highest one of the last byte, which makes doubles
 * very large or very small. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void spoil(const char *function, int *calls, void *buf, int count, MPI_Datatype type)
{
	const char *wrong = getenv("WRONG_CALL");
	const size_t length = strlen(function);
	int rank, size;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Type_size(type, &size);
	if (rank == 1 && wrong && !strncmp(wrong, function, length) && wrong[length] == ':' &&
		atoi(wrong + length + 1) == ++*calls && count > 0)
		((char *)buf)[(size_t)count * (size_t)size - 1] ^= 0x40;
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	static int calls;
	int rc = PMPI_Recv(buf, count, type, source, tag, comm, status);

	spoil("MPI_Recv", &calls, buf, count, type);
	return rc;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	static int calls;
	int rc = PMPI_Allreduce(in, out, count, type, op, comm);

	spoil("MPI_Allreduce", &calls, out, count, type);
	return rc;
}

int MPI_Alltoallv(const void *in, const int *scounts, const int *sdispls, MPI_Datatype stype, void *out,
	const int *rcounts, const int *rdispls, MPI_Datatype rtype, MPI_Comm comm)
{
	static int calls;
	int rc = PMPI_Alltoallv(in, scounts, sdispls, stype, out, rcounts, rdispls, rtype, comm);

	spoil("MPI_Alltoallv", &calls, out, rcounts[0], rtype);
	return rc;
}
