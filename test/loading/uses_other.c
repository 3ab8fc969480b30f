/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of that MPI: linked with it, or (with an argument) it loads the library. */
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int *, char ***);

int main(int argc, char **argv)
{
#ifdef LINKED
	return MPI_Init(&argc, &argv);
#else
	void *mpi = dlopen(argv[1], RTLD_NOW);
	int (*init)(int *, char ***) = mpi ? (int (*)(int *, char ***))dlsym(mpi, "MPI_Init") : NULL;

	if (!init)
		printf("cannot load: %s\n", dlerror());
	return init ? init(&argc, &argv) : 3;
#endif
}
