/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that is preloaded. It wraps MPI_Comm_size, and also PMPI_Comm_rank, and says what it has seen at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define SYMBOL __attribute__((visibility("default")))

typedef int comm_fn(MPI_Comm, int *);

static int sizes, ranks, last_size = -1;

SYMBOL int MPI_Comm_size(MPI_Comm comm, int *size)
{
	comm_fn *next = (comm_fn *)dlsym(RTLD_NEXT, "MPI_Comm_size");
	int rc = next(comm, size);

	sizes++;
	last_size = *size;
	return rc;
}

SYMBOL int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	comm_fn *next = (comm_fn *)dlsym(RTLD_NEXT, "PMPI_Comm_rank");

	ranks++;
	return next(comm, rank);
}

static void end(void) __attribute__((destructor));
static void end(void)
{
	if (sizes + ranks > 0)
		fprintf(stderr, "tool: sizes %s, last %d, ranks %s\n", sizes ? "seen" : "unseen", last_size,
			ranks ? "seen" : "unseen");
}
