/* SPDX-License-Identifier: BSD-3-Clause */
/* For appnum.t: MPI_APPNUM and MPI_UNIVERSE_SIZE on a communicator that a session has made. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	int rank, *program, *universe, has_program, has_universe;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "appnum", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_get_attr(comm, MPI_APPNUM, &program, &has_program);
	MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &universe, &has_universe);
	printf("rank %d: program %d, universe %d\n", rank, has_program ? *program : -1, has_universe ? *universe : -1);
	MPI_Group_free(&group);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return 0;
}
