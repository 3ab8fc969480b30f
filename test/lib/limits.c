/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits WHAT: functions of MPI-4.0 with a native library that may have none of them, on four ranks in two clusters.
 * Rank 0 prints. large: large counts within the limits and beyond, on a local communicator. collective: persistent
 * collectives on the world; local-collective: on a local communicator. partitioned, session: each needs the native
 * library.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;
static MPI_Comm local; /* two ranks of one cluster */

static void tell(const char *what, int rc)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int class = rc, len;

	MPI_Error_class(rc, &class);
	if (rc != MPI_SUCCESS)
		MPI_Error_string(rc, text, &len);
	if (rank == 0)
		printf("%s: class %d %s\n", what, class, text);
}

static void large(void)
{
	const MPI_Count beyond = (MPI_Count)3 << 30, counts[2] = {1, 1};
	const MPI_Aint displs[2] = {0, 1}, far[2] = {0, (MPI_Aint)beyond};
	int out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1}, me;
	MPI_Request r;
	MPI_Status s;
	MPI_Win w;

	MPI_Comm_rank(local, &me);
	MPI_Sendrecv_c(out, 2, MPI_INT, 1 - me, 0, in, 2, MPI_INT, 1 - me, 0, local, &s);
	if (rank == 0)
		printf("exchanged %d %d\n", in[0], in[1]);
	MPI_Alltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, local);
	if (rank == 0)
		printf("all to all %d %d\n", in[0], in[1]);
	MPI_Win_create_c(in, sizeof in, sizeof(int), MPI_INFO_NULL, local, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, w);
	MPI_Put_c(out, 1, MPI_INT, 1 - me, 1, 1, MPI_INT, w);
	MPI_Win_fence(0, w);
	if (rank == 0)
		printf("put %d\n", in[1]);
	tell("a window", MPI_Put_c(out, beyond, MPI_INT, 1 - me, 0, beyond, MPI_INT, w));
	MPI_Win_free(&w);
	tell("a send", MPI_Send_c(out, beyond, MPI_INT, me, 0, local));
	tell("a displacement", MPI_Alltoallv_c(out, counts, far, MPI_INT, in, counts, displs, MPI_INT, local));
	tell("arrays that last",
		MPI_Ialltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, local, &r));
}

static void collective(MPI_Comm comm)
{
	int one = 1, sum = -1;
	MPI_Request r;

	MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		if (rank == 0)
			printf("sum %d\n", sum);
	}
	MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static char lines[1 << 12];
	int peer;
	MPI_Session session;
	MPI_Request r;

	if (strcmp(what, "session") == 0) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
		MPI_Session_finalize(&session);
		return 0;
	}
	MPI_Init(&argc, &argv);
	setvbuf(stdout, lines, _IOLBF, sizeof(lines)); /* MPICH has made it unbuffered: long lines of ranks would mix */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &local);
	MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
	if (strcmp(what, "large") == 0)
		large();
	else if (strcmp(what, "collective") == 0)
		collective(MPI_COMM_WORLD);
	else if (strcmp(what, "local-collective") == 0)
		collective(local);
	else if (strcmp(what, "partitioned") == 0) {
		peer = rank ^ 1;
		MPI_Psend_init(&rank, 1, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
		MPI_Request_free(&r);
	}
	MPI_Comm_free(&local);
	MPI_Finalize();
	return 0;
}
