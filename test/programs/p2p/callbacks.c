/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks see the whole world: operations, error handlers, generalized requests. */
#include <unistd.h>

#include "../check.h"

static int seen[2], calls;

static void look(void)
{
	int s = -1, r = -1;

	MPI_Comm_size(WORLD, &s);
	MPI_Comm_rank(WORLD, &r);
	calls++;
	seen[0] += s != size;
	seen[1] += r != rank;
}

static void report(const char *what)
{
	CHECK(seen[0] == 0 && seen[1] == 0, "%s: sees another world", what);
	printf("rank %d: %s: %s\n", rank, what, calls ? "called" : "not called");
	calls = seen[0] = seen[1] = 0;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int bytes;

	MPI_Type_size(*type, &bytes);
	CHECK_INT(bytes, sizeof(int));
	look();
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void handle(MPI_Comm *c, int *code, ...)
{
	int class, n;

	MPI_Error_class(*code, &class);
	MPI_Comm_size(*c, &n);
	CHECK_INT(class, MPI_ERR_TRUNCATE);
	CHECK_INT(n, size);
	look();
}

static int query(void *extra, MPI_Status *st)
{
	(void)extra;
	MPI_Status_set_elements(st, MPI_BYTE, 0);
	MPI_Status_set_cancelled(st, 0);
	st->MPI_SOURCE = st->MPI_TAG = MPI_UNDEFINED;
	look();
	return MPI_SUCCESS;
}

static int forget(void *extra)
{
	(void)extra;
	look();
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	(void)extra, (void)complete;
	return MPI_SUCCESS;
}

static void reductions(MPI_Comm c, int commutes, const char *what)
{
	MPI_Op op;
	int sum = 0, me, n;

	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	MPI_Op_create(add, commutes, &op);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, op, c);
	CHECK_INT(sum, n * (n - 1) / 2);
	MPI_Scan(&me, &sum, 1, MPI_INT, op, c);
	CHECK_INT(sum, me * (me + 1) / 2);
	MPI_Op_free(&op);
	seen[0] || seen[1] ? report(what) : (void)(calls = 0); /* the library chooses which rank calls, and how often */
}

static void truncation(int from, int to)
{
	int out[4] = {0}, in;

	if (rank == from)
		MPI_Send(out, 4, MPI_INT, to, 1, WORLD);
	if (rank != to)
		return;
	MPI_Recv(&in, 1, MPI_INT, from, 1, WORLD, MPI_STATUS_IGNORE);
	report("error handler");
}

static MPI_Errhandler of_world;

static void ask(void *in, void *inout, int *n, MPI_Datatype *type)
{
	MPI_Errhandler got;

	MPI_Comm_get_errhandler(WORLD, &got);
	CHECK(got == of_world, "another handler of the world");
	MPI_Errhandler_free(&got);
	add(in, inout, n, type);
}

/* While a rank waits for a message on a communicator with another handler. */
static void handler_in_operation(void)
{
	MPI_Comm half, other;
	MPI_Request r;
	MPI_Op op;
	int sum = 0;

	MPI_Comm_split(WORLD, rank / 2, rank, &half);
	MPI_Comm_dup(half, &other);
	MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
	MPI_Op_create(ask, 1, &op);
	if (rank % 2)
		usleep(50000);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, op, half, &r);
	if (rank % 2 == 0)
		MPI_Recv(NULL, 0, MPI_INT, 1, 1, other, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (rank % 2)
		MPI_Send(NULL, 0, MPI_INT, 0, 1, other);
	CHECK_INT(sum, rank / 2 * 4 + 1);
	MPI_Op_free(&op);
	MPI_Comm_free(&other);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Comm half;
	MPI_Errhandler h;
	MPI_Request r;

	begin(&argc, &argv);
	MPI_Comm_split(WORLD, rank / 2, rank, &half);
	for (int commutes = 0; commutes < 2; commutes++) {
		reductions(WORLD, commutes, "operation");
		reductions(half, commutes, "operation in a half");
	}
	MPI_Comm_free(&half);

	MPI_Grequest_start(query, forget, cancel, NULL, &r);
	MPI_Grequest_complete(r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	report("generalized request");

	MPI_Comm_create_errhandler(handle, &h);
	MPI_Comm_set_errhandler(WORLD, h);
	of_world = h;
	handler_in_operation();
	MPI_Errhandler_free(&h);
	calls = 0;
	for (int from = 0; from < size; from++)
		truncation(from, (from + 1) % size);
	return end();
}
