/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type of intercommunicators: those members of both groups that share a host. */
#include "../check.h"

static MPI_Comm host, between;

/* The number of ranks on this host with that parity. */
static int count(int parity)
{
	int mine = rank % 2 == parity, all;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, host);
	return all;
}

static void split(int type, int mine, int theirs)
{
	MPI_Comm part = MPI_COMM_WORLD;
	int n = 0, m = 0, inter = 0, me, sum = 0;
	CHECK_INT(MPI_Comm_split_type(between, type, -rank, MPI_INFO_NULL, &part), MPI_SUCCESS);
	CHECK_INT(part != MPI_COMM_NULL, type != MPI_UNDEFINED && mine > 0 && theirs > 0);
	if (part == MPI_COMM_NULL)
		return;
	MPI_Comm_test_inter(part, &inter);
	CHECK_INT(inter, 1);
	MPI_Comm_size(part, &n);
	MPI_Comm_remote_size(part, &m);
	CHECK_INT(n, mine);
	CHECK_INT(m, theirs);
	MPI_Comm_rank(part, &me);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, part);
	CHECK_INT(sum, m * (m - 1) / 2);
	MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm half, made = MPI_COMM_WORLD;
	MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 1, &between);
	const int of[2] = {count(0), count(1)};
	int most = of[0] + of[1];
	MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, WORLD);
	/* MPICH 5.0.2 of Debian says that each rank is alone, and then hangs here. */
	if (most > 1 || mpich_version() < 500)
		split(MPI_COMM_TYPE_SHARED, of[rank % 2], of[1 - rank % 2]);
	split(MPI_UNDEFINED, 0, 0);
	MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
	CHECK_INT(class_of(MPI_Comm_split_type(between, 12345, 0, MPI_INFO_NULL, &made)), MPI_ERR_ARG);
	MPI_Comm_free(&half);
	MPI_Comm_free(&host);
	MPI_Comm_free(&between);
	return end();
}
