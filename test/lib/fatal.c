/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that makes a communicator of one rank, whose errors end the job, as its argument says, and sends to a
 * rank that does not exist there. Or its last rank calls a handler that ends the job. For fatal.t. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static MPI_Comm between(MPI_Comm parent)
{
	MPI_Comm half, inter;

	MPI_Comm_split(parent, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, parent, 1 - rank % 2, 0, &inter);
	MPI_Comm_free(&half);
	return inter;
}

static MPI_Comm make(MPI_Comm parent, const char *how)
{
	MPI_Comm made = MPI_COMM_NULL, inter;
	MPI_Group group;
	MPI_Request r;

	if (strcmp(how, "dup") == 0) {
		MPI_Comm_dup(parent, &made);
	} else if (strcmp(how, "idup") == 0) {
		MPI_Comm_idup(parent, &made, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else if (strcmp(how, "split") == 0) {
		MPI_Comm_split(parent, 0, rank, &made);
	} else if (strcmp(how, "create") == 0 || strcmp(how, "create_group") == 0) {
		MPI_Comm_group(parent, &group);
		if (strcmp(how, "create") == 0)
			MPI_Comm_create(parent, group, &made);
		else
			MPI_Comm_create_group(parent, group, 0, &made);
		MPI_Group_free(&group);
	} else if (strcmp(how, "cart") == 0) {
		MPI_Cart_create(parent, 1, &size, &(int){1}, 0, &made);
	} else if (strcmp(how, "inter") == 0) {
		made = between(parent);
	} else if (strcmp(how, "inter_dup") == 0) {
		inter = between(parent);
		MPI_Comm_dup(inter, &made);
	} else if (strcmp(how, "merge") == 0) {
		inter = between(parent);
		MPI_Intercomm_merge(inter, 0, &made);
	}
	return made;
}

static void call_handler(const char *of)
{
	MPI_Win win;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (rank < size - 1)
		return;
	if (strcmp(of, "call_comm") == 0)
		MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);
	else if (strcmp(of, "call_native") == 0) /* with a code of native MPI */
		MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_Send(&rank, 1, MPI_INT, 0, -5, MPI_COMM_SELF));
	else if (strcmp(of, "call_win") == 0)
		MPI_Win_call_errhandler(win, MPI_ERR_TAG);
	else
		MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_TAG);
}

/* Members give different amounts, on a communicator that ends the job while the world does not. */
static void start_persistent(void)
{
	static char from[800000], to[800000];
	const int n = rank == 0 ? 400000 : 800000;
	MPI_Comm c;
	MPI_Request r;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);
	MPI_Allreduce_init(from, to, n, MPI_BYTE, MPI_BOR, c, MPI_INFO_NULL, &r);
	MPI_Start(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Comm parent, made;
	const char *how = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strncmp(how, "call_", 5) == 0) {
		call_handler(how);
		made = MPI_COMM_WORLD;
	} else if (strcmp(how, "persistent") == 0) {
		start_persistent();
		made = MPI_COMM_WORLD;
	} else if (strcmp(how, "world") == 0) { /* like a library that puts the handler back */
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
		MPI_Comm_dup(MPI_COMM_WORLD, &made);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	} else {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		MPI_Comm_dup(MPI_COMM_WORLD, &parent);
		MPI_Comm_set_errhandler(parent, MPI_ERRORS_ARE_FATAL);
		made = make(parent, how);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&rank, 1, MPI_INT, size + 3, 1, made);
	printf("rank %d goes on\n", rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
