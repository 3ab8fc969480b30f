/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the calls that ../nulls.py has written: one argument of each is a null pointer. Two ranks. Rank 0 prints
 * function, argument, and the error class or "crash" of each call.
 *
 * usage: nulls sure|unsure [self]     self: on MPI_COMM_SELF. Natively unsure calls may crash, or go on.
 */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
	const char *function, *argument;
	int (*make)(void);
	int sure;
};

#define N 8
static MPI_Comm comm, cart, graph, around, inter, new_comm;
static MPI_Request request, requests[N];
static MPI_Status status, statuses[N];
static MPI_Datatype types[N], new_type;
static MPI_Group group, new_group;
static MPI_Win win, new_win;
static MPI_File file, new_file;
static MPI_Info new_info;
static MPI_Message message;
static MPI_Op new_op;
static MPI_Errhandler new_handler;
static MPI_Count counts[N];
static MPI_Aint aints[N];
static int nodes = 2, number, keyval, rank, other;
static int ones[N], zeros[N], displs[N], ends_at[] = {1, 2}, edges[] = {1, 0}, dims[] = {2}, ranges[][3] = {{0, 0, 1}};
static char text[4096], from[4096], to[4096], also[4096], here[4096];

#include "calls.h"

static sigjmp_buf before;

static void on_crash(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

/* What the calls before have changed. */
static void refresh(void)
{
	request = MPI_REQUEST_NULL;
	message = MPI_MESSAGE_NO_PROC;
	new_comm = comm;
	new_group = group;
	new_type = MPI_INT;
	new_op = MPI_SUM;
	new_win = win;
	new_file = file;
	new_info = MPI_INFO_NULL;
	new_handler = MPI_ERRORS_RETURN;
	for (int i = 0; i < N; i++) {
		ones[i] = 1, zeros[i] = 0, displs[i] = i, counts[i] = 1, aints[i] = i, types[i] = MPI_INT;
		requests[i] = MPI_REQUEST_NULL;
	}
}

static void prepare(int self)
{
	static int memory[N];
	int outside = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 3, &inter);
	MPI_Comm_dup(self ? MPI_COMM_SELF : MPI_COMM_WORLD, &comm);
	if (self)
		rank = 0, dims[0] = 1, nodes = 1, edges[0] = 0;
	other = self ? 0 : !rank;
	MPI_Cart_create(comm, 1, dims, &outside, 0, &cart);
	MPI_Graph_create(comm, nodes, ends_at, edges, 0, &graph);
	MPI_Dist_graph_create_adjacent(comm, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&around);
	MPI_Comm_group(comm, &group);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, comm, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, win);
	MPI_File_open(comm, "nulls.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
}

int main(int argc, char **argv)
{
	const int sure = argc > 1 && strcmp(argv[1], "sure") == 0;
	int first, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &first);
	first = !first;
	prepare(argc > 2);
	signal(SIGSEGV, on_crash);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		int class = -1, code;
		if (calls[i].sure != sure)
			continue;
		refresh();
		if (sigsetjmp(before, 1) == 0) {
			code = calls[i].make();
			MPI_Error_class(code, &class);
		}
		if (first && class < 0)
			printf("%s, %s: crash\n", calls[i].function, calls[i].argument);
		else if (first)
			printf("%s, %s: class %d\n", calls[i].function, calls[i].argument, class);
	}
	/* they have changed nothing */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_File_close(&file);
	MPI_Allreduce(ones, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (first)
		printf("the sum of ones is %s\n", sum == (argc > 2 ? 1 : 2) ? "right" : "wrong");
	MPI_Finalize();
	return 0;
}
