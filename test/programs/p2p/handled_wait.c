/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that are too short: whose handler does the call that completes them call, that of MPI_COMM_WORLD or that of
 * their communicator, and how often? MPICH decides by its version and by the kind of request. Ordinary, persistent and
 * partitioned receives, from partners here and far away. twin: layouts=2+2,1+3
 */
#include "../check.h"

static int of_world, of_dup;
static MPI_Comm dup;

static void count_world(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	of_world++;
}

static void count_dup(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	of_dup++;
}

enum kind { ORDINARY, PERSISTENT, PARTITIONED, KINDS };
static const char *const names[] = {"ordinary", "persistent", "partitioned"};

static MPI_Request start(enum kind kind, int *buf, int partner)
{
	const int n = rank < partner ? 4 : 2;
	MPI_Request r = MPI_REQUEST_NULL;

	if (kind == ORDINARY && rank < partner)
		MPI_Isend(buf, n, MPI_INT, partner, kind, dup, &r);
	else if (kind == ORDINARY)
		MPI_Irecv(buf, n, MPI_INT, partner, kind, dup, &r);
	else if (kind == PERSISTENT && rank < partner)
		MPI_Send_init(buf, n, MPI_INT, partner, kind, dup, &r);
	else if (kind == PERSISTENT)
		MPI_Recv_init(buf, n, MPI_INT, partner, kind, dup, &r);
#if MPI_VERSION >= 4
	else if (rank < partner)
		MPI_Psend_init(buf, n, 1, MPI_INT, partner, kind, dup, MPI_INFO_NULL, &r);
	else
		MPI_Precv_init(buf, n, 1, MPI_INT, partner, kind, dup, MPI_INFO_NULL, &r);
	if (kind != ORDINARY)
		MPI_Start(&r);
	if (kind == PARTITIONED && rank < partner)
		MPI_Pready_range(0, n - 1, r);
#else
	if (kind == PERSISTENT)
		MPI_Start(&r);
#endif
	return r;
}

static int by_wait(MPI_Request *r)
{
	return MPI_Wait(r, MPI_STATUS_IGNORE);
}

static int by_test(MPI_Request *r)
{
	int flag = 0, rc = MPI_SUCCESS;

	while (!flag && rc == MPI_SUCCESS)
		rc = MPI_Test(r, &flag, MPI_STATUS_IGNORE);
	return rc;
}

static void receive(enum kind kind, int partner, const char *how, int (*complete)(MPI_Request *))
{
	int buf[4] = {0};

	of_world = of_dup = 0;
	MPI_Request r = start(kind, buf, partner);
	/* The class of a partitioned receive is MPI_ERR_OTHER in MPICH 4.0. */
	const int rc = complete(&r), class = kind == PARTITIONED ? rc != MPI_SUCCESS : class_of(rc);
	printf("rank %d: %s, with %d, %s: class %d, handler of the world %d, of the communicator %d\n", rank,
		names[kind], partner, how, class, of_world, of_dup);
	if (r != MPI_REQUEST_NULL)
		MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
	MPI_Errhandler world, other;

	begin(&argc, &argv);
	MPI_Comm_dup(WORLD, &dup);
	MPI_Comm_create_errhandler(count_world, &world);
	MPI_Comm_create_errhandler(count_dup, &other);
	MPI_Comm_set_errhandler(WORLD, world);
	MPI_Comm_set_errhandler(dup, other);
	for (int kind = 0; kind < (MPI_VERSION >= 4 ? KINDS : PARTITIONED); kind++)
		for (int mask = 1; mask < size; mask <<= 1) {
			receive(kind, rank ^ mask, "by MPI_Wait", by_wait);
			receive(kind, rank ^ mask, "by MPI_Test", by_test);
		}
	MPI_Errhandler_free(&world);
	MPI_Errhandler_free(&other);
	MPI_Comm_free(&dup);
	return end();
}
