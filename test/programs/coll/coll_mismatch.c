/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Amounts of data that do not agree between the clusters, or inside one, are an error where they arrive, and nothing
 * hangs as long as the members of each cluster take the same number of steps. Members with different numbers of
 * segments do not, so long messages go between members that are alone in their clusters. Native MPI does not define
 * such amounts, so this is for merged worlds only. So is a reduction of no datatype: natively MPICH 5.0.2 ends the
 * process. twin: native=no layouts=2+2,1+3,3+1,1+1+2
 */
#include "../check.h"

static int x[100000], y[400000];

#define LARGE 60000 /* is sent natively inside a cluster */

/* The sender has LARGE for a receiver that expects nothing. */
static void unexpected(MPI_Comm c, int giver, int taker)
{
	int none[16] = {0}, one[16] = {0}, rc;
	one[taker] = LARGE;
	rc = MPI_Gatherv(x, rank == giver ? LARGE : 0, MPI_INT, y, none, none, MPI_INT, taker, c);
	CHECK_INT(class_of(rc), rank == giver ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
	rc = MPI_Scatterv(x, one, none, MPI_INT, y, 0, MPI_INT, giver, c);
	CHECK_INT(class_of(rc), rank == giver ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
	rc = MPI_Alltoallv(x, rank == giver ? one : none, none, MPI_INT, y, none, none, MPI_INT, c);
	CHECK_INT(class_of(rc), rank == giver ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

/* The rank that sends, which has enough for the receiver. */
static void missing(MPI_Comm c, int giver, int taker, int other)
{
	int none[16] = {0}, one[16] = {0}, from[16] = {0}, rc;
	one[other] = LARGE;
	rc = MPI_Scatterv(x, one, none, MPI_INT, y, rank == other ? LARGE : rank == taker ? 5 : 0, MPI_INT, giver, c);
	CHECK_INT(class_of(rc), rank == taker ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
	from[giver] = rank == other ? LARGE : rank == taker ? LARGE / 2 : 0;
	rc = MPI_Alltoallv(x, rank == giver ? one : none, none, MPI_INT, y, from, none, MPI_INT, c);
	CHECK_INT(class_of(rc), rank == taker ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

/* The sender has less than expected, and more. */
static void other_size(MPI_Comm c, int giver, int taker)
{
	int none[16] = {0}, one[16] = {0}, from[16] = {0}, rc;
	for (int more = 0; more < 2; more++) {
		one[taker] = LARGE;
		from[giver] = more ? LARGE / 2 : LARGE + 1;
		rc = MPI_Alltoallv(x, rank == giver ? one : none, none, MPI_INT, y, rank == taker ? from : none, none,
			MPI_INT, c);
		CHECK_INT(class_of(rc), rank == taker ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
	}
}

/* A number of this rank's cluster. MPI_COMM_TYPE_SHARED does not tell it: with MPICH 5.0.2 of Debian each rank is
 * alone. */
static int cluster_number(const char *name)
{
	unsigned n = 0;
	while (*name)
		n = n * 31 + (unsigned char)*name++;
	return (int)(n & 0x7fffffff);
}

/* How many ranks the cluster with the most of them has, and the first one; its members are consecutive. */
static int largest(int cluster, int *begin)
{
	MPI_Comm members;
	int first = rank, n;
	MPI_Comm_split(WORLD, cluster, rank, &members);
	MPI_Comm_size(members, &n);
	MPI_Bcast(&first, 1, MPI_INT, 0, members);
	MPI_Comm_free(&members);
	int mine[2] = {n, first}, most[2];
	MPI_Allreduce(mine, most, 1, MPI_2INT, MPI_MAXLOC, WORLD);
	*begin = most[1];
	return most[0];
}

/* Between those in the largest cluster. */
static void inside_cluster(int cluster)
{
	MPI_Comm c;
	int first, n = largest(cluster, &first);
	MPI_Comm_dup(WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	for (int i = 0; i < 2; i++) {
		unexpected(c, first + i, first + 1 - i);
		other_size(c, first + i, first + 1 - i);
		if (n > 2) {
			missing(c, first + i, first + 1 - i, first + 2);
			missing(c, first + i, first + 2, first + 1 - i);
		}
	}
	/* and nothing is left over */
	for (int i = 0; i < 300; i++) {
		int counts[16], displs[16];
		for (int r = 0; r < size; r++) {
			counts[r] = i % 100 ? 1 : 9000;
			displs[r] = r * 10000;
			x[r * 10000] = i * 100 + rank * 10 + r;
			y[r * 10000] = -1;
		}
		MPI_Alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, c);
		for (int r = 0; r < size; r++)
			CHECK_INT(y[r * 10000], i * 100 + r * 10 + rank);
	}
	MPI_Comm_free(&c);
}

/* All but the root learn that the root has another amount, also behind the member of their cluster that receives it. */
static void spread(void)
{
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int root = 0; root < size; root++) {
		for (int more = 0; more < 2; more++) {
			MPI_Request q;
			int rc = MPI_Bcast(x, (rank == root) == more ? 10 : 1, MPI_INT, root, WORLD);
			CHECK_INT(class_of(rc), rank == root ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
			MPI_Ibcast(x, (rank == root) == more ? 10 : 1, MPI_INT, root, WORLD, &q);
			rc = MPI_Wait(&q, MPI_STATUS_IGNORE);
			CHECK_INT(class_of(rc), rank == root ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
		}
	}
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static int once;

static void of_one(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	once++;
}

/* The handler of a communicator is called once at most for each call, where other communicators have other handlers. */
static void too_much(void)
{
	int much[1000] = {0};
	MPI_Comm dup;
	MPI_Errhandler h;
	MPI_Request r;

	MPI_Comm_dup(WORLD, &dup);
	MPI_Comm_create_errhandler(of_one, &h);
	MPI_Comm_set_errhandler(dup, h);
	MPI_Errhandler_free(&h);
	MPI_Bcast(much, rank == 0 ? 1000 : 1, MPI_INT, 0, dup);
	CHECK(once <= (rank != 0), "%d calls", once);
	MPI_Barrier(WORLD);
	if (MPI_Ibcast(much, rank == 0 ? 1000 : 1, MPI_INT, 0, dup, &r) == MPI_SUCCESS)
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK(once <= 2 * (rank != 0), "%d calls", once);
	MPI_Barrier(WORLD);
	MPI_Comm_free(&dup);
}

#if MPI_VERSION >= 4
/* Each start of a persistent request fails inside the largest cluster, where native MPI finds that the root has more
 * than expected. All communicators have the same handler as long as no other one is set. It is called once at most for
 * each start. */
static void each_start(int cluster)
{
	int first, n = largest(cluster, &first);
	const int taker = n > 1 ? first + 1 : size;
	MPI_Errhandler h;
	MPI_Request r;

	MPI_Comm_create_errhandler(of_one, &h);
	MPI_Comm_set_errhandler(WORLD, h);
	MPI_Errhandler_free(&h);
	MPI_Bcast_init(x, rank == taker ? LARGE - LARGE / 10 : LARGE, MPI_INT, first, WORLD, MPI_INFO_NULL, &r);
	for (int i = 0; i < 2; i++) {
		once = 0;
		MPI_Start(&r);
		const int rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
		/* MPICH 5 returns MPI_SUCCESS after a handler that returns */
		CHECK((rank == taker) == (rc != MPI_SUCCESS || (mpich_version() >= 500 && once == 1)), "code %d", rc);
		CHECK(once <= (rank == taker), "%d calls", once);
	}
	MPI_Request_free(&r);
	once = 0;
}
#endif

int main(int argc, char **argv)
{
	const char *part = getenv("ZIPPER_PART"); /* is gone after MPI_Init */
	const int cluster = cluster_number(part ? part : "");
	begin(&argc, &argv);
	int last = size - 1, rc;
#if MPI_VERSION >= 4
	each_start(cluster);
#endif
	MPI_Comm pair; /* the first and the last rank: in different clusters, each alone */
	MPI_Comm_split(WORLD, rank == 0 || rank == last ? 0 : MPI_UNDEFINED, 0, &pair);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	if (pair != MPI_COMM_NULL) {
		const int sizes[][2] = {{10, 5}, {5, 10}, {0, 1}, {80000, 10}, {10, 80000}, {80000, 90000},
			{98304, 65536}};
		for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			MPI_Comm c; /* left-over segments stay with it */
			MPI_Comm_dup(pair, &c);
			MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
			rc = MPI_Bcast(x, sizes[i][rank != 0], MPI_INT, 0, c);
			CHECK_INT(class_of(rc), rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
			MPI_Barrier(pair);
		}
		MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
		rc = MPI_Gather(x, rank ? 7 : 3, MPI_INT, y, 3, MPI_INT, 0, pair);
		CHECK_INT(class_of(rc), rank ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
		rc = MPI_Scatter(x, 7, MPI_INT, y, rank ? 3 : 7, MPI_INT, 0, pair);
		CHECK_INT(class_of(rc), rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
		rc = MPI_Allreduce(x, y, rank ? 3 : 7, MPI_INT, MPI_SUM, pair);
		CHECK_INT(class_of(rc), MPI_ERR_TRUNCATE);
		rc = MPI_Alltoall(x, rank ? 3 : 7, MPI_INT, y, rank ? 3 : 7, MPI_INT, pair);
		CHECK_INT(class_of(rc), MPI_ERR_TRUNCATE);
		rc = MPI_Allreduce(x, y, 1, MPI_DATATYPE_NULL, MPI_SUM, pair);
		CHECK_INT(class_of(rc), MPI_ERR_OP);
		rc = MPI_Reduce(x, y, 0, MPI_DATATYPE_NULL, MPI_MAX, 0, pair);
		CHECK_INT(class_of(rc), MPI_ERR_OP);
		MPI_Request q;
		MPI_Iallgather(x, rank ? 3 : 7, MPI_INT, y, rank ? 3 : 7, MPI_INT, pair, &q);
		rc = MPI_Wait(&q, MPI_STATUS_IGNORE);
		CHECK_INT(class_of(rc), MPI_ERR_TRUNCATE);
		MPI_Barrier(pair);
		MPI_Comm_free(&pair);
	}
	too_much();
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Barrier(WORLD);
	inside_cluster(cluster);
	spread();
	return end();
}
