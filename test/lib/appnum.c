/* SPDX-License-Identifier: BSD-3-Clause */
/* For appnum.t: the attributes MPI_APPNUM and MPI_UNIVERSE_SIZE by all functions of C, on several communicators, and
 * the world split by MPI_APPNUM as coupled models do it. The argument is the name of the program. */
#include <mpi.h>
#include <stdio.h>

/* -1: no such attribute */
static int ask(MPI_Comm comm, int keyval)
{
	int *value, found;

	MPI_Comm_get_attr(comm, keyval, &value, &found);
	return found ? *value : -1;
}

static int ask_old(MPI_Comm comm, int keyval)
{
	int *value, found;

	MPI_Attr_get(comm, keyval, &value, &found);
	return found ? *value : -1;
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Comm copy, model;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, ask(MPI_COMM_WORLD, MPI_APPNUM), rank, &model);
	MPI_Comm_size(model, &size);
	printf("rank %d: %s, program %d %d %d %d %d, universe %d %d %d %d %d, model of %d\n", rank, argv[1],
		ask(MPI_COMM_WORLD, MPI_APPNUM), ask_old(MPI_COMM_WORLD, MPI_APPNUM), ask(MPI_COMM_SELF, MPI_APPNUM),
		ask(copy, MPI_APPNUM), ask(model, MPI_APPNUM), ask(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE),
		ask_old(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE), ask(MPI_COMM_SELF, MPI_UNIVERSE_SIZE),
		ask(copy, MPI_UNIVERSE_SIZE), ask(model, MPI_UNIVERSE_SIZE), size);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&model);
	MPI_Finalize();
	return 0;
}
