/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter and MPI_Reduce_scatter_block, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/reduce_scatter.h"
#include "libzip/coll/reduce_scatter_across.h"

/* Checks the buffer for my result, which may not be the send buffer. */
static int check_result(const struct zcoll *a, int me)
{
	MPI_Count mine = a->vector ? zvec_get(a->recvcounts, me) : a->recvcount;
	if (mine > 0 && a->recvbuf == a->sendbuf)
		return MPI_ERR_BUFFER;
	return zargs_check_data(a->recvbuf, mine, a->recvtype);
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zargs_check_op(a->op);
	bool own = a->sendbuf == MPI_IN_PLACE;
	const void *whole = own ? a->recvbuf : a->sendbuf;
	if (rc == MPI_SUCCESS && a->recvbuf == MPI_IN_PLACE)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && a->vector && !a->recvcounts.p)
		rc = MPI_ERR_ARG;
	if (rc == MPI_SUCCESS && !own)
		rc = check_result(a, zsched_comm(s)->rank);
	if (rc == MPI_SUCCESS)
		rc = a->vector ? zargs_take_vector(s, whole, a->recvcounts, a->recvtype)
			       : zargs_take_data(s, whole, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

/* Between groups there is no MPI_IN_PLACE, and counts are those of my own group. */
static int take_across(struct zsched *s, struct zcoll *a)
{
	zsched_across(s, false);
	return zargs_take_both(s, a, take);
}

static const struct zcoll_across across = {take_across, zreduce_scatter_across_build};

#define VECTOR_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Reduce_scatter, Ireduce_scatter, VECTOR_PARAMS, (sendbuf, recvbuf, recvcounts, datatype, op, comm),
	(.take = take, .build = zreduce_scatter_build, .across = &across, .vector = true, .sendbuf = sendbuf,
		.recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .recvtype = datatype, .op = op))

#define BLOCK_PARAMS(COUNT, DISPL)                                                                                     \
	const void *sendbuf, void *recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Reduce_scatter_block, Ireduce_scatter_block, BLOCK_PARAMS,
	(sendbuf, recvbuf, recvcount, datatype, op, comm),
	(.take = take, .build = zreduce_scatter_build, .across = &across, .sendbuf = sendbuf, .recvbuf = recvbuf,
		.recvcount = recvcount, .recvtype = datatype, .op = op))
