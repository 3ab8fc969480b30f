/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses, or not, a function that libzipper does not know. As a program (-DPROGRAM): with -DIMPORT the function is
 * imported; "probe" looks for it by name; LIBRARY FUNCTION calls that function of a library. As a library: `quiet` does
 * not call it, and `run` does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int MPIX_Future_size(MPI_Comm, int *);

#ifdef PROGRAM
static int load(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*call)(void) = handle ? (int (*)(void))dlsym(handle, function) : NULL;

	if (!call)
		printf("cannot load: %s\n", dlerror());
	return call ? call() : 3;
}

int main(int argc, char **argv)
{
	static char lines[1 << 12]; /* MPICH has made stdout unbuffered, and a long line of a rank may come in pieces */
	int size = 0, rc = 0;

	MPI_Init(&argc, &argv);
	setvbuf(stdout, lines, _IOLBF, sizeof(lines));
#ifdef IMPORT
	MPIX_Future_size(MPI_COMM_WORLD, &size);
#endif
	if (argc > 1 && strcmp(argv[1], "probe") == 0) {
		const char *why = dlsym(RTLD_DEFAULT, "MPIX_Future_size") ? "it is there" : dlerror();
		printf("probe: %s\n", why);
	} else if (argc > 2) {
		rc = load(argv[1], argv[2]);
	}
	printf("size %d\n", size);
	MPI_Finalize();
	return rc;
}
#else
int run(void);
int run(void)
{
	int size = 0;

	MPIX_Future_size(MPI_COMM_WORLD, &size);
	printf("future size %d\n", size);
	return 0;
}

int quiet(void);
int quiet(void)
{
	return 0;
}
#endif
