/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into an MPI program: the last byte of each message of WRONG_BYTES (the environment) that is received is
 * wrong. */
#include <mpi.h>
#include <stdlib.h>

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	int rc = PMPI_Recv(buf, count, type, source, tag, comm, status);
	const char *wrong = getenv("WRONG_BYTES");

	if (wrong && atoi(wrong) == count)
		((char *)buf)[count - 1] ^= 1;
	return rc;
}
