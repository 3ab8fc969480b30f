/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create_group refuses a group with a process that is not in the communicator, in any cluster; MPICH 4.0.2
 * alone crashes. twin: native=no
 */
#include "../check.h"

int main(int argc, char **argv)
{
	MPI_Comm half, c;
	MPI_Group all, one;
	int class;

	begin(&argc, &argv);
	MPI_Comm_split(WORLD, rank / 2, rank, &half);
	MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
	MPI_Comm_group(WORLD, &all);
	MPI_Error_class(MPI_Comm_create_group(half, all, 1, &c), &class);
	CHECK_INT(class, MPI_ERR_GROUP);
	for (int other = 0; other < size; other++) { /* this rank, and one of the other half */
		int both[2] = {rank, other};
		if (other / 2 == rank / 2)
			continue;
		MPI_Group_incl(all, 2, both, &one);
		MPI_Error_class(MPI_Comm_create_group(half, one, 1, &c), &class);
		CHECK_INT(class, MPI_ERR_GROUP);
		MPI_Group_free(&one);
	}
	MPI_Group_free(&all);
	MPI_Comm_free(&half);
	return end();
}
