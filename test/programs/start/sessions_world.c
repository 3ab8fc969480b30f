/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions beside MPI_Init: one is opened before it and outlives MPI_Finalize, one lies in between. twin: layouts=2+2
 */
#include "../check.h"

static MPI_Comm open_session(MPI_Session *session, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session);
	whole_lines();
	CHECK_INT(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group), MPI_SUCCESS);
	CHECK_INT(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	MPI_Group_free(&group);
	return comm;
}

static void use(MPI_Comm comm)
{
	int sum = -1, next = -1;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK_INT(sum, size * (size - 1) / 2);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, &next, 1, MPI_INT, (rank + 1) % size, 0, comm,
		MPI_STATUS_IGNORE);
	CHECK_INT(next, (rank + 1) % size);
}

int main(int argc, char **argv)
{
	MPI_Session outer, inner;
	MPI_Comm early, late;
	int flag;

	early = open_session(&outer, "early");
	MPI_Comm_rank(early, &rank);
	MPI_Comm_size(early, &size);
	use(early);
	MPI_Initialized(&flag);
	CHECK_INT(flag, 0);
	MPI_Init(&argc, &argv);
	late = open_session(&inner, "late");
	use(WORLD);
	use(late);
	use(early);
	MPI_Comm_free(&late);
	MPI_Session_finalize(&inner);
	end();
	MPI_Finalized(&flag);
	CHECK_INT(flag, 1);
	use(early);
	MPI_Comm_free(&early);
	CHECK_INT(MPI_Session_finalize(&outer), MPI_SUCCESS);
	printf("rank %d: %d errors\n", rank, errors);
	return errors != 0;
}
