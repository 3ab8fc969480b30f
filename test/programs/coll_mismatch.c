/* SPDX-License-Identifier: BSD-3-Clause */
/* Amounts of data that do not agree between the clusters are an error where they arrive, and nothing hangs: what native
 * MPI does with them is not defined, so this is for merged worlds only. twin: native=no layouts=2+2,1+3,1+1+2 */
#include "check.h"

static int class_of(int rc)
{
	int class;
	MPI_Error_class(rc, &class);
	return class;
}

int main(int argc, char **argv)
{
	static int x[100000], y[400000];
	begin(&argc, &argv);
	int last = size - 1, rc;
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
		MPI_Request q;
		MPI_Iallgather(x, rank ? 3 : 7, MPI_INT, y, rank ? 3 : 7, MPI_INT, pair, &q);
		rc = MPI_Wait(&q, MPI_STATUS_IGNORE);
		CHECK_INT(class_of(rc), MPI_ERR_TRUNCATE);
		MPI_Barrier(pair);
		MPI_Comm_free(&pair);
	}
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Barrier(WORLD);
	return end();
}
