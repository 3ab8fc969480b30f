/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with the arguments of a collective, by its error class; and amounts of data that do not agree.
 * twin: timeout=60 */
#include "check.h"

static int called;

static void handler(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	called++;
}

static void report(const char *what, int rc)
{
	static const struct {
		int class;
		const char *name;
	} names[] = {{MPI_SUCCESS, "success"}, {MPI_ERR_ROOT, "root"}, {MPI_ERR_COUNT, "count"}, {MPI_ERR_TYPE, "type"},
		{MPI_ERR_OP, "op"}, {MPI_ERR_BUFFER, "buffer"}, {MPI_ERR_ARG, "arg"}, {MPI_ERR_TRUNCATE, "truncate"},
		{MPI_ERR_COMM, "comm"}};
	const char *name = "other";
	int class = -1, length = 0;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Error_class(rc, &class);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].class == class)
			name = names[i].name;
	MPI_Error_string(rc, text, &length);
	CHECK(length > 0, "%s: no text", what);
	CHECK_INT(called, 1);
	called = 0;
	printf("rank %d: %s: %s\n", rank, what, name);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int x[64], y[64], counts[64], displs[64];
	MPI_Request q;
	MPI_Errhandler e;
	memset(x, 0, sizeof x);
	memset(y, 0, sizeof y);
	for (int i = 0; i < 64; i++)
		counts[i] = i == 1 ? -2 : 1, displs[i] = i;
	MPI_Comm_create_errhandler(handler, &e);
	MPI_Comm_set_errhandler(WORLD, e);

	report("bcast from a root too large", MPI_Bcast(x, 1, MPI_INT, size, WORLD));
	report("bcast from a negative root", MPI_Bcast(x, 1, MPI_INT, -1, WORLD));
	report("bcast of a negative count", MPI_Bcast(x, -1, MPI_INT, 0, WORLD));
	report("bcast of no type", MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, WORLD));
	report("ibcast from a root too large", MPI_Ibcast(x, 1, MPI_INT, size, WORLD, &q));
	report("reduce to a root too large", MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, size, WORLD));
	report("allreduce with no operation", MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, WORLD));
	report("allreduce of reals by bits", MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_BAND, WORLD));
	report("allreduce in one buffer", MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, WORLD));
	report("gather with a negative count", MPI_Gather(x, -1, MPI_INT, y, 1, MPI_INT, 0, WORLD));
	report("allgather of no type", MPI_Allgather(x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT, WORLD));
	report("alltoall with a negative count", MPI_Alltoall(x, -1, MPI_INT, y, -1, MPI_INT, WORLD));
	report("allgatherv with a negative count", MPI_Allgatherv(x, 1, MPI_INT, y, counts, displs, MPI_INT, WORLD));
	report("scan with no operation", MPI_Scan(x, y, 1, MPI_INT, MPI_OP_NULL, WORLD));
	report("reduce_scatter with a negative count", MPI_Reduce_scatter(x, y, counts, MPI_INT, MPI_SUM, WORLD));
	report("barrier on no communicator", MPI_Barrier(MPI_COMM_NULL));

	/* and it still works */
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&e);
	MPI_Allreduce(&rank, y, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(y[0], size * (size - 1) / 2);
	return end();
}
