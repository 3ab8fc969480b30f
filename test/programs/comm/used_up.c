/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks have few communicators left, or none: what all ranks make then fails everywhere or nowhere, and hangs
 * nowhere. How many are made is native MPI's own. twin: layouts=1+3
 */
#include "../check.h"

#define MANY 70000 /* more than MPICH has */
#define LEFT 6

static MPI_Comm made[MANY];

static int duplicate_all(MPI_Comm of)
{
	int n = 0;
	while (n < MANY && MPI_Comm_dup(of, &made[n]) == MPI_SUCCESS)
		n++;
	return n;
}

/* Splits the world until that fails, and frees what was made. Returns the class. */
static int split_until_failure(void)
{
	static MPI_Comm part[MANY];
	int n = 0, rc;
	while ((rc = MPI_Comm_split(WORLD, 0, rank, &part[n])) == MPI_SUCCESS && n < MANY - 1)
		n++;
	CHECK(part[n] == MPI_COMM_NULL, "the handle of a failed split is not null");
	while (n > 0)
		MPI_Comm_free(&part[--n]);
	return class_of(rc);
}

int main(int argc, char **argv)
{
	MPI_Comm pair;
	int n = 0;
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_split(WORLD, rank < 2 ? MPI_UNDEFINED : 0, rank, &pair);
	if (pair != MPI_COMM_NULL) {
		MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
		n = duplicate_all(pair);
	}
	for (int left = 0; left <= LEFT; left++) {
		printf("rank %d, %d left: class %d\n", rank, left, split_until_failure());
		if (n > 0)
			MPI_Comm_free(&made[--n]);
	}
	while (n > 0)
		MPI_Comm_free(&made[--n]);
	if (pair != MPI_COMM_NULL)
		MPI_Comm_free(&pair);
	return end();
}
