/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions one after the other, none in between: natively MPICH 4.0.2 crashes. And after MPI_Finalize there are none
 * any more. twin: native=no layouts=2+2,1+1+2 */
#include "../check.h"

static void once(int number)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	int sum = -1;

	CHECK_INT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
	whole_lines();
	CHECK_INT(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_SUCCESS);
	CHECK_INT(MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	MPI_Comm_size(comm, &size);
	MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK_INT(sum, number * size);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	CHECK_INT(MPI_Session_finalize(&session), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
	MPI_Session session;

	for (int i = 0; i < 4; i++)
		once(i);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	once(9);
	int rc = end();
	CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS, "a session after the end");
	CHECK(session == MPI_SESSION_NULL, "and it has a handle");
	return rc || errors;
}
