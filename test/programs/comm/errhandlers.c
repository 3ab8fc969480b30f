/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error handler that is called if a message is longer than the receive: for blocking calls the communicator's; for
 * MPI_Wait and MPI_Test the world's, from MPICH 4.2 on the communicator's; for other waits and tests the world's; and
 * the world's for a communicator that has none. twin: endpoints=3
 */
#include "../check.h"

static int of_world, of_copy, handled;
static MPI_Comm copy;

static void handle_world(MPI_Comm *c, int *code, ...)
{
	(void)c;
	MPI_Error_class(*code, &handled);
	of_world++;
}

static void handle_copy(MPI_Comm *c, int *code, ...)
{
	MPI_Error_class(*code, &handled);
	CHECK(*c == copy, "another communicator");
	of_copy++;
}

static void report(const char *what, int from, int rc)
{
	int class = -1;
	MPI_Error_class(rc, &class);
	if (of_world + of_copy > 0) {
		/* after a handler that returns, MPICH 5 has success */
		CHECK(class == handled || class == MPI_SUCCESS, "class %d, but %d in the handler", class, handled);
		class = handled;
	}
	printf("rank %d: %s from %d: class %s, world %d, copy %d\n", rank, what, from,
		class == MPI_SUCCESS	     ? "success"
		: class == MPI_ERR_TRUNCATE  ? "truncate"
		: class == MPI_ERR_IN_STATUS ? "in status"
					     : "other",
		of_world, of_copy);
	of_world = of_copy = 0;
}

enum {
	RECV,
	ANY,
	SENDRECV,
	SENDRECV_LOCAL,
	REPLACE,
	MRECV,
	WAIT,
	WAIT_ANY,
	TEST,
	WAITALL,
	WAITSOME,
	WAITANY,
	TESTANY,
	ISENDRECV,
	WAYS
};
static const char *const names[] = {"recv", "recv from anywhere", "sendrecv", "sendrecv with nobody",
	"sendrecv_replace", "mrecv", "wait", "wait for any source", "test", "waitall", "waitsome", "waitany", "testany",
	"isendrecv"};

static int receive(int way, int from, int room, MPI_Comm c)
{
	static int in[20000];
	MPI_Request r;
	MPI_Message m;
	MPI_Status st;
	int rc = MPI_SUCCESS, flag = 0, n = 0, index;

	switch (way) {
	case RECV:
		return MPI_Recv(in, room, MPI_INT, from, 1, c, &st);
	case ANY:
		return MPI_Recv(in, room, MPI_INT, MPI_ANY_SOURCE, 1, c, &st);
	case SENDRECV:
		return MPI_Sendrecv(&n, 0, MPI_INT, from, 2, in, room, MPI_INT, from, 1, c, &st);
	case SENDRECV_LOCAL:
		return MPI_Sendrecv(&n, 0, MPI_INT, MPI_PROC_NULL, 2, in, room, MPI_INT, from, 1, c, &st);
	case REPLACE:
		return MPI_Sendrecv_replace(in, room, MPI_INT, MPI_PROC_NULL, 2, from, 1, c, &st);
	case MRECV:
		MPI_Mprobe(from, 1, c, &m, &st);
		return MPI_Mrecv(in, room, MPI_INT, &m, &st);
	case ISENDRECV:
		MPI_Isendrecv(&n, 0, MPI_INT, MPI_PROC_NULL, 2, in, room, MPI_INT, from, 1, c, &r);
		return MPI_Wait(&r, &st);
	}
	MPI_Irecv(in, room, MPI_INT, way == WAIT_ANY ? MPI_ANY_SOURCE : from, 1, c, &r);
	switch (way) {
	case WAITALL:
		return MPI_Waitall(1, &r, &st);
	case WAITSOME:
		return MPI_Waitsome(1, &r, &n, &index, &st);
	case WAITANY:
		return MPI_Waitany(1, &r, &index, &st);
	case TEST:
	case TESTANY:
		while (!flag && rc == MPI_SUCCESS && of_world + of_copy == 0)
			rc = way == TEST ? MPI_Test(&r, &flag, &st) : MPI_Testany(1, &r, &index, &flag, &st);
		return rc;
	}
	return MPI_Wait(&r, &st);
}

/* from and to are ranks of c, which has them alone or is as the world. */
static void all_ways(const char *where, MPI_Comm c, int from, int to, int me)
{
	static int out[20000];
	static const int lengths[] = {10, 20000};

	for (int way = 0; way < WAYS; way++)
		for (int i = 0; i < 2; i++) {
			if (me == from) {
				MPI_Send(out, lengths[i], MPI_INT, to, 1, c);
				if (way == SENDRECV)
					MPI_Recv(out, 0, MPI_INT, to, 2, c, MPI_STATUS_IGNORE);
			}
			if (me != to)
				continue;
			char what[80];
			snprintf(what, sizeof what, "%s, %s, %d ints", where, names[way], lengths[i]);
			report(what, from, receive(way, from, lengths[i] / 2, c));
		}
}

static void pairs(const char *where)
{
	for (int to = 0; to < size; to += size - 1)
		for (int from = 0; from < size; from++)
			if (from != to) {
				all_ways(where, copy, from, to, rank);
				MPI_Barrier(WORLD); /* the next rank sends to all, too */
			}
}

/* The handler is called by whichever look finds the message: each comes at another moment of a test. */
static void tests(void)
{
	int wrong = 0;

	for (int i = 0; i < 500; i++) {
		if (rank == size - 2) {
			MPI_Recv(NULL, 0, MPI_INT, size - 1, 2, copy, MPI_STATUS_IGNORE);
			for (volatile int spin = 0; spin < i % 100 * 20; spin++)
				;
			MPI_Send(names, 10, MPI_INT, size - 1, 1, copy);
		}
		if (rank == size - 1) {
			MPI_Send(NULL, 0, MPI_INT, size - 2, 2, copy);
			handled = MPI_SUCCESS;
			receive(TEST, size - 2, 5, copy);
			wrong += of_world + of_copy != 1 || handled != MPI_ERR_TRUNCATE;
			of_world = of_copy = 0;
		}
	}
	CHECK(wrong == 0, "%d tests whose error did not reach a handler once", wrong);
}

int main(int argc, char **argv)
{
	MPI_Errhandler world, own, got;
	MPI_Comm before;
	int c;

	begin(&argc, &argv);
	MPI_Comm_create_errhandler(handle_world, &world);
	MPI_Comm_create_errhandler(handle_copy, &own);
	MPI_Comm_dup(WORLD, &before);
	MPI_Comm_dup(WORLD, &copy);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	if (rank == size - 1)
		report("errors return there alone", 0, MPI_Recv(&c, 0, MPI_INT, size - 2, 1, copy, MPI_STATUS_IGNORE));
	if (rank == size - 2)
		MPI_Send(&rank, 1, MPI_INT, size - 1, 1, copy);

	MPI_Comm_set_errhandler(WORLD, world);
	MPI_Comm_set_errhandler(copy, own);
	MPI_Errhandler_free(&own);
	pairs("own handler");
	MPI_Comm_get_errhandler(WORLD, &got);
	CHECK(got == world, "another handler of the world");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&world);
	pairs("handlers freed");
	tests();
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	pairs("errors return");
	MPI_Comm_free(&copy);

	copy = before;
	pairs("none of its own");
	MPI_Comm_free(&copy);

	/* two that are in one cluster, most likely */
	MPI_Comm_split(WORLD, rank / 2, rank, &copy);
	MPI_Comm_rank(copy, &c);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	all_ways("two of them", copy, 0, 1, c);
	MPI_Comm_free(&copy);
	return end();
}
