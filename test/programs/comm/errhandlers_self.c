/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which handler is called: of the message's communicator, of the world, or of MPI_COMM_SELF, to which errors without an
 * object belong since MPI-4.0 (section 9.3). That differs between versions of MPICH, and each shall do over the bridge
 * as it does natively. A handler sees the communicator that the program knows, with all its processes.
 */
#include "../check.h"

static const char *called = "none";
static MPI_Comm copy;

static void of_world(MPI_Comm *c, int *code, ...)
{
	(void)code;
	CHECK(*c == WORLD, "another communicator than the world");
	called = "world";
}

static void of_self(MPI_Comm *c, int *code, ...)
{
	(void)code;
	CHECK(*c == MPI_COMM_SELF, "another communicator than MPI_COMM_SELF");
	called = "self";
}

static void of_copy(MPI_Comm *c, int *code, ...)
{
	(void)code;
	CHECK(*c == copy, "another communicator than the copy");
	called = "copy";
}

static void set(MPI_Comm c, MPI_Comm_errhandler_function *f)
{
	MPI_Errhandler h;

	MPI_Comm_create_errhandler(f, &h);
	MPI_Comm_set_errhandler(c, h);
	MPI_Errhandler_free(&h);
}

enum { RECV, WAIT, TEST, WAITALL, WAITANY, TESTSOME, MRECV, SENDRECV, ISENDRECV, WAYS };
static const char *const names[] = {"recv", "wait", "test", "waitall", "waitany", "testsome", "mrecv", "sendrecv",
	"isendrecv"};

static void receive(int way, int from, MPI_Comm c)
{
	int in[2] = {0, 0}, flag = 0, n, index;
	MPI_Request r;
	MPI_Message m;
	MPI_Status st;

	if (way == RECV) {
		MPI_Recv(in, 1, MPI_INT, from, 1, c, &st);
		return;
	}
	if (way == SENDRECV) {
		MPI_Sendrecv(in, 0, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, from, 1, c, &st);
		return;
	}
	if (way == MRECV) {
		MPI_Mprobe(from, 1, c, &m, &st);
		MPI_Mrecv(in, 1, MPI_INT, &m, &st);
		return;
	}
	if (way == ISENDRECV)
		MPI_Isendrecv(in, 0, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, from, 1, c, &r);
	else
		MPI_Irecv(in, 1, MPI_INT, from, 1, c, &r);
	if (way == WAITALL)
		MPI_Waitall(1, &r, &st);
	else if (way == WAITANY)
		MPI_Waitany(1, &r, &index, &st);
	else if (way == TESTSOME)
		for (n = 0; n == 0 && strcmp(called, "none") == 0;)
			MPI_Testsome(1, &r, &n, &index, &st);
	else if (way == TEST)
		while (!flag && strcmp(called, "none") == 0)
			MPI_Test(&r, &flag, &st);
	else
		MPI_Wait(&r, &st);
}

static void all(const char *when, MPI_Comm c)
{
	static const int two[2] = {1, 2};

	for (int from = 0; from < size - 1; from++)
		for (int way = 0; way < WAYS; way++) {
			if (rank == from)
				MPI_Send(two, 2, MPI_INT, size - 1, 1, c);
			if (rank != size - 1)
				continue;
			called = "none";
			receive(way, from, c);
			printf("rank %d: %s, %s from %d: %s\n", rank, when, names[way], from, called);
		}
	MPI_Barrier(WORLD);
}

static void arguments(const char *when)
{
	int n;
	MPI_Request r = MPI_REQUEST_NULL;

	called = "none";
	MPI_Group_size(MPI_GROUP_NULL, &n);
	printf("rank %d: %s, group: %s\n", rank, when, called);
	called = "none";
	MPI_Cancel(&r);
	printf("rank %d: %s, request: %s\n", rank, when, called);
	called = "none";
	MPI_Send(&n, 1, MPI_INT, size, 1, WORLD);
	printf("rank %d: %s, rank: %s\n", rank, when, called);
	called = "none";
	MPI_Send(&n, 1, MPI_INT, size, 1, copy);
	printf("rank %d: %s, rank in the copy: %s\n", rank, when, called);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_dup(WORLD, &copy);
	set(WORLD, of_world);
	all("only the world has one", WORLD);
	all("only the world has one, in the copy", copy);
	arguments("only the world has one");
	set(copy, of_copy);
	all("the copy has one", copy);
	all("the copy has one, in the world", WORLD);
	set(MPI_COMM_SELF, of_self);
	all("all have one", copy);
	all("all have one, in the world", WORLD);
	arguments("all have one");
	MPI_Comm_free(&copy);
	return end();
}
