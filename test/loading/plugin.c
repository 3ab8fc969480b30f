/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that uses MPI, bound by the linker and looked up in two ways; all must be of one world. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int size_fn(MPI_Comm, int *);
int run(void);

static int size_of(void *handle)
{
	size_fn *get = (size_fn *)dlsym(handle, "PMPI_Comm_size");
	int n = -1;

	if (get)
		get(MPI_COMM_WORLD, &n);
	return n;
}

int run(void)
{
	static size_fn *const pointer = MPI_Comm_size; /* a relocation of another kind than those of calls */
	int rank, size, points, sum = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pointer(MPI_COMM_WORLD, &points);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d: of %d %d %d %d, sum %d\n", rank, size, points, size_of(RTLD_DEFAULT),
		size_of(dlopen(MPI_LIBRARY, RTLD_LAZY)), sum);
	return MPI_Finalize();
}
