/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the new handle when its constructor fails: the null handle where MPI has begun, otherwise what stood
 * there before. */
#include "../check.h"

static const char *const kept[] = {"left as it was", "null", "other"};

static void report(const char *what, int rc, int handle)
{
	int class = MPI_SUCCESS;
	MPI_Error_class(rc, &class);
	CHECK(rc != MPI_SUCCESS, "%s succeeds", what);
	printf("rank %d: %s: class %d, the handle is %s\n", rank, what, class, kept[handle]);
}

#define TRY(WHAT, HANDLE, BEFORE, NONE, CALL)                                                                          \
	do {                                                                                                           \
		HANDLE = BEFORE;                                                                                       \
		int rc_ = CALL;                                                                                        \
		report(WHAT, rc_, HANDLE == BEFORE ? 0 : HANDLE == NONE ? 1 : 2);                                      \
	} while (0)

static void communicators(MPI_Comm comm, MPI_Group group)
{
	MPI_Comm c;
	MPI_Request q;
	int n, periods[] = {0, 0}, ends[] = {1, 2}, far[] = {1, 99}, down[] = {2, 1}, all[] = {1, 1};
	MPI_Comm_size(comm, &n);
	int dims[] = {n, 2};
#define COMM(WHAT, CALL) TRY(WHAT, c, comm, MPI_COMM_NULL, CALL)
	COMM("a grid too large", MPI_Cart_create(comm, 2, dims, periods, 0, &c));
	COMM("a grid of -1 dimensions", MPI_Cart_create(comm, -1, dims, periods, 0, &c));
	COMM("a grid on nothing", MPI_Cart_create(MPI_COMM_NULL, 1, dims, periods, 0, &c));
	COMM("a part of no grid", MPI_Cart_sub(comm, all, &c));
	COMM("a graph with an edge to nowhere", MPI_Graph_create(comm, 2, ends, far, 0, &c));
	COMM("a graph that is too large", MPI_Graph_create(comm, n + 1, ends, far, 0, &c));
	COMM("a graph with a smaller index", MPI_Graph_create(comm, 2, down, far, 0, &c));
	COMM("of no group", MPI_Comm_create(comm, MPI_GROUP_NULL, &c));
	COMM("among no group", MPI_Comm_create_group(comm, MPI_GROUP_NULL, 0, &c));
	COMM("among a group of no communicator", MPI_Comm_create_group(MPI_COMM_NULL, group, 0, &c));
	COMM("a split by no type", MPI_Comm_split_type(comm, 12345, 0, MPI_INFO_NULL, &c));
	COMM("a split of nothing", MPI_Comm_split(MPI_COMM_NULL, 0, 0, &c));
	COMM("a copy of nothing", MPI_Comm_dup(MPI_COMM_NULL, &c));
	COMM("a copy of nothing, later", MPI_Comm_idup(MPI_COMM_NULL, &c, &q));
	COMM("a leader that does not exist", MPI_Intercomm_create(comm, 77, comm, 0, 1, &c));
}

static void others(MPI_Comm comm, MPI_Group all)
{
	MPI_Group g;
	MPI_Request q, before;
	MPI_Message m;
	int n, out[] = {99}, far[3] = {0, 99, 1}, still[3] = {0, 1, 0}, flag, x = 0;
	MPI_Comm_size(comm, &n);
#define GROUP(WHAT, CALL) TRY(WHAT, g, all, MPI_GROUP_NULL, CALL)
	GROUP("a group with a rank too large", MPI_Group_incl(all, 1, out, &g));
	GROUP("a group without a rank too large", MPI_Group_excl(all, 1, out, &g));
	GROUP("a range to a rank too large", MPI_Group_range_incl(all, 1, &far, &g));
	GROUP("without a range of stride 0", MPI_Group_range_excl(all, 1, &still, &g));
	GROUP("a part of no group", MPI_Group_incl(MPI_GROUP_NULL, 1, out, &g));
	GROUP("a union with nothing", MPI_Group_union(all, MPI_GROUP_NULL, &g));
	GROUP("the group of nothing", MPI_Comm_group(MPI_COMM_NULL, &g));
	MPI_Send_init(&x, 1, MPI_INT, 0, 0, comm, &before);
#define REQUEST(WHAT, CALL) TRY(WHAT, q, before, MPI_REQUEST_NULL, CALL)
	REQUEST("a send to a rank too large", MPI_Isend(&x, 1, MPI_INT, n, 0, comm, &q));
	REQUEST("a receive of -1 elements", MPI_Irecv(&x, -1, MPI_INT, n - 1, 0, comm, &q));
	REQUEST("a persistent send to a rank too large", MPI_Send_init(&x, 1, MPI_INT, n, 0, comm, &q));
	REQUEST("a broadcast from a rank too large", MPI_Ibcast(&x, 1, MPI_INT, n, comm, &q));
	REQUEST("a persistent one", MPI_Bcast_init(&x, 1, MPI_INT, n, comm, MPI_INFO_NULL, &q));
	REQUEST("an exchange with a rank too large",
		MPI_Isendrecv(&x, 1, MPI_INT, n - 1, 0, out, 1, MPI_INT, n, 0, comm, &q));
	MPI_Request_free(&before);
	MPI_Win w, made;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &made);
#define WINDOW(WHAT, CALL) TRY(WHAT, w, made, MPI_WIN_NULL, CALL)
	WINDOW("a window of -1 bytes", MPI_Win_create(&x, -1, 1, MPI_INFO_NULL, comm, &w));
	WINDOW("a window of units of 0 bytes", MPI_Win_create(&x, sizeof x, 0, MPI_INFO_NULL, comm, &w));
	WINDOW("a window on a null pointer", MPI_Win_create(NULL, sizeof x, 1, MPI_INFO_NULL, comm, &w));
	WINDOW("a window on nothing", MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_NULL, &w));
	MPI_Win_free(&made);
	TRY("a probe of a rank too large", m, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL,
		MPI_Improbe(n, 0, comm, &flag, &m, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
	MPI_Comm copy, half, all[3];
	MPI_Group group;
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(WORLD, &copy);
	MPI_Comm_split(WORLD, rank / 2, rank, &half);
	all[0] = WORLD, all[1] = copy, all[2] = half;
	for (int i = 0; i < 3; i++) {
		MPI_Comm_set_errhandler(all[i], MPI_ERRORS_RETURN);
		MPI_Comm_group(all[i], &group);
		communicators(all[i], group);
		others(all[i], group);
		MPI_Group_free(&group);
	}
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
	return end();
}
