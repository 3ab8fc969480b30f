/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The info of MPI_Comm_idup_with_info belongs to the application again when the call returns, also where the
 * duplication has to wait for a collective that rank 0 begins when all others have freed theirs.
 */
#include "../check.h"

#define KEY "mpi_assert_no_any_tag"

static void begin_all(MPI_Comm *c, MPI_Request r[2])
{
	MPI_Info info;

	MPI_Ibarrier(WORLD, &r[0]);
	MPI_Info_create(&info);
	MPI_Info_set(info, KEY, "true");
	MPI_Comm_idup_with_info(WORLD, info, c, &r[1]);
	MPI_Info_set(info, KEY, "false");
	MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	MPI_Comm c;
	MPI_Info info;
	MPI_Request r[2];
	char value[10] = "";
	int found = 0, go = 1;

	begin(&argc, &argv);
	if (rank == 0) {
		for (int i = 1; i < size; i++)
			MPI_Recv(&go, 1, MPI_INT, i, 1, WORLD, MPI_STATUS_IGNORE);
		begin_all(&c, r);
	} else {
		begin_all(&c, r);
		MPI_Send(&go, 1, MPI_INT, 0, 1, WORLD);
	}
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Comm_get_info(c, &info);
	MPI_Info_get(info, KEY, sizeof value - 1, value, &found);
	printf("rank %d: %s\n", rank, found ? value : "not there");
	MPI_Info_free(&info);
	MPI_Comm_free(&c);
	return end();
}
