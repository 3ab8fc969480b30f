/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is not linked with MPI. It loads MPI, and looks all functions up. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int run(void);
int run(void)
{
	void *mpi = dlopen(MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int (*init)(int *, char ***) = mpi ? (int (*)(int *, char ***))dlsym(mpi, "MPI_Init") : NULL;
	int (*get_rank)(MPI_Comm, int *) = init ? (int (*)(MPI_Comm, int *))dlsym(mpi, "MPI_Comm_rank") : NULL;
	int (*get_size)(MPI_Comm, int *) = init ? (int (*)(MPI_Comm, int *))dlsym(mpi, "MPI_Comm_size") : NULL;
	int (*finalize)(void) = init ? (int (*)(void))dlsym(mpi, "MPI_Finalize") : NULL;
	int rank, size;

	if (!get_rank || !get_size || !finalize) {
		printf("no MPI: %s\n", dlerror());
		return 1;
	}
	init(NULL, NULL);
	get_rank(MPI_COMM_WORLD, &rank);
	get_size(MPI_COMM_WORLD, &size);
	printf("rank %d: of %d\n", rank, size);
	return finalize();
}
