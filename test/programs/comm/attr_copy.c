/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A callback that copies the attributes of a communicator may communicate, but not wait for a collective on that
 * communicator, which would wait for the callback: an error, where natively it works.
 * twin: native=no timeout=30
 */
#include "../check.h"

static MPI_Comm other;
static int called;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	int class = -1, one = 1, sum = 0, theirs = -1, peer = size - 1 - rank;
	(void)keyval, (void)extra;
	called++;
	MPI_Error_class(MPI_Barrier(comm), &class);
	CHECK_INT(class, MPI_ERR_OTHER);
	MPI_Sendrecv(&rank, 1, MPI_INT, peer, 1, &theirs, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
	CHECK_INT(theirs, peer);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
	CHECK_INT(sum, size);
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm comm, two;
	MPI_Request q;
	int key, one = 1, sum = 0;
	MPI_Comm_dup(WORLD, &other);
	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(comm, key, &one);
	MPI_Comm_dup(comm, &two);
	CHECK_INT(called, 1);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, two);
	CHECK_INT(sum, size);
	MPI_Barrier(comm);
	MPI_Comm_free(&two);
	MPI_Comm_idup(comm, &two, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	CHECK_INT(called, 2);
	MPI_Comm_free(&two);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_free(&comm);
	MPI_Comm_free(&other);
	return end();
}
