/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: nbhd NAME HOW FOLDER...: rank r changes to the r-th FOLDER first. Then all ranks split by the neighbourhood of
 * those who see the same folder NAME, keys in the opposite order. HOW: world: MPI_COMM_WORLD; inter: an
 * intercommunicator of the ranks of both parities; mixed: rank 0 names another type of split. Each rank prints the
 * class of the error, and the ranks of the world that it is with, those of its own group first; rank 0 the error's
 * text, too.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RANKS_MAX 16

static void print_members(MPI_Comm c)
{
	int inter, members[RANKS_MAX], n;
	MPI_Comm_test_inter(c, &inter);
	for (int remote = 0; remote <= inter; remote++) {
		MPI_Group group, world;
		int all[RANKS_MAX] = {0};
		for (int i = 0; i < RANKS_MAX; i++)
			all[i] = i;
		if (remote)
			MPI_Comm_remote_group(c, &group);
		else
			MPI_Comm_group(c, &group);
		MPI_Comm_group(MPI_COMM_WORLD, &world);
		MPI_Group_size(group, &n);
		MPI_Group_translate_ranks(group, n, all, world, members);
		MPI_Group_free(&group);
		MPI_Group_free(&world);
		for (int i = 0; i < n; i++)
			printf("%s%d", i ? "," : remote ? "-" : "", members[i]);
	}
	MPI_Barrier(c);
}

static char lines[1 << 12];

int main(int argc, char **argv)
{
	int rank, size, class = -1, n;
	char text[MPI_MAX_ERROR_STRING], version[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Comm from = MPI_COMM_WORLD, half, c = MPI_COMM_SELF;
	MPI_Info info;

	MPI_Init(&argc, &argv);
	setvbuf(stdout, lines, _IOLBF, sizeof lines); /* MPICH has made it unbuffered */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_library_version(version, &n);
	int major = 0, minor = 0;
	sscanf(version, "MPICH Version: %d.%d", &major, &minor);
	int type = major < 4 ? 2 : major == 4 && minor < 2 ? 4 : 5;
	if (argc < 3 + size || size > RANKS_MAX || chdir(argv[3 + rank]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (strcmp(argv[2], "inter") == 0) {
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &from);
	}
	if (strcmp(argv[2], "mixed") == 0 && rank == 0)
		type = MPI_COMM_TYPE_SHARED;
	MPI_Info_create(&info);
	MPI_Info_set(info, "nbhd_common_dirname", argv[1]);
	MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN);
	int rc = MPI_Comm_split_type(from, type, -rank, info, &c);
	MPI_Error_class(rc, &class);
	MPI_Error_string(rc, text, &n);
	printf("rank %d: class %d ", rank, class);
	if (c == MPI_COMM_NULL)
		printf("none");
	else
		print_members(c);
	printf("\n");
	if (rc != MPI_SUCCESS && rank == 0)
		printf("text %s\n", text);
	MPI_Finalize();
	return 0;
}
