/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of collectives, by their error class; and amounts of data that do not agree. twin: timeout=60 */
#include "../check.h"

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

/* A null pointer where data are to be given or taken, in all ranks, so that none of them waits. */
static void nowhere(const char *name, MPI_Datatype t)
{
	int x[128] = {0}, y[128] = {0}, ones[32], displs[32], bytes[32];
	MPI_Datatype types[32];
	MPI_Request q;
	char text[100];
	for (int i = 0; i < 32; i++)
		ones[i] = 1, displs[i] = i, bytes[i] = 16 * i, types[i] = t;
#define REPORT(WHAT, CALL) snprintf(text, sizeof text, "%s, %s", WHAT, name), report(text, CALL)
#define BOTH(WHAT, CALL)                                                                                               \
	for (int k = 0; k < 2; k++) {                                                                                  \
		void *from = k ? x : NULL, *to = k ? NULL : y;                                                         \
		REPORT(k ? WHAT " to nowhere" : WHAT " from nowhere", CALL);                                           \
	}
	REPORT("bcast of nothing", MPI_Bcast(NULL, 1, t, 0, WORLD));
	BOTH("allgather", MPI_Allgather(from, 1, t, to, 1, t, WORLD))
	BOTH("allgatherv", MPI_Allgatherv(from, 1, t, to, ones, displs, t, WORLD))
	BOTH("alltoall", MPI_Ialltoall(from, 1, t, to, 1, t, WORLD, &q))
	BOTH("alltoallv", MPI_Alltoallv(from, ones, displs, t, to, ones, displs, t, WORLD))
	BOTH("alltoallw", MPI_Alltoallw(from, ones, bytes, types, to, ones, bytes, types, WORLD))
#undef BOTH
#undef REPORT
}

static void reduced_to_nowhere(void)
{
	int x[128] = {0}, ones[32];
	MPI_Request q;
	for (int i = 0; i < 32; i++)
		ones[i] = 1;
	report("reduce from nowhere", MPI_Reduce(NULL, x, 1, MPI_INT, MPI_SUM, 0, WORLD));
	report("allreduce from nowhere", MPI_Allreduce(NULL, x, 1, MPI_INT, MPI_SUM, WORLD));
	report("allreduce to nowhere", MPI_Allreduce(x, NULL, 1, MPI_INT, MPI_SUM, WORLD));
	report("scan from nowhere", MPI_Scan(NULL, x, 1, MPI_INT, MPI_SUM, WORLD));
	report("iexscan from nowhere", MPI_Iexscan(NULL, x, 1, MPI_INT, MPI_SUM, WORLD, &q));
	report("reduce_scatter_block from nowhere", MPI_Reduce_scatter_block(NULL, x, 1, MPI_INT, MPI_SUM, WORLD));
	report("reduce_scatter_block to nowhere", MPI_Reduce_scatter_block(x, NULL, 1, MPI_INT, MPI_SUM, WORLD));
	report("reduce_scatter from nowhere", MPI_Reduce_scatter(NULL, x, ones, MPI_INT, MPI_SUM, WORLD));
	report("reduce_scatter to nowhere", MPI_Reduce_scatter(x, NULL, ones, MPI_INT, MPI_SUM, WORLD));
	report("reduce_scatter in one buffer", MPI_Reduce_scatter(x, x, ones, MPI_INT, MPI_SUM, WORLD));
}

/* A handle made from bits: MPICH may take it for a datatype that had this handle before. */
static void no_type(void)
{
	int x[2] = {0}, y[64] = {0};
	MPI_Datatype other = (MPI_Datatype)0x12345;
	report("bcast of another object", MPI_Bcast(x, 1, other, 0, WORLD));
	report("alltoall of another object", MPI_Alltoall(x, 1, other, y, 1, MPI_INT, WORLD));
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
	MPI_Datatype gaps;
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	nowhere("ints", MPI_INT);
	nowhere("two with a gap", gaps);
	MPI_Type_free(&gaps);
	reduced_to_nowhere();
	no_type();

	/* and it still works */
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&e);
	MPI_Allreduce(&rank, y, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(y[0], size * (size - 1) / 2);
	return end();
}
