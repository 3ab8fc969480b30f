/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter and MPI_Reduce_scatter_block, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/reduce_scatter.h"
#include "libzip/coll/reduce_scatter_across.h"

static bool is_empty(const struct zsched *s, const struct zcoll *a)
{
	bool empty = a->vector || a->recvcount == 0;
	for (int i = 0; a->vector && empty && i < zsched_comm(s)->size; i++)
		empty = zvec_get(a->recvcounts, i) == 0;
	return empty;
}

/* The counts are right. The result may not be written over the operand, even if there is none here. */
static int check_result(const struct zsched *s, struct zcoll *a)
{
	MPI_Count mine = a->vector ? zvec_get(a->recvcounts, zsched_comm(s)->rank) : a->recvcount;
	int rc = zargs_check_data(a, a->recvbuf, mine, a->recvtype);
	return rc == MPI_SUCCESS && !is_empty(s, a) ? zargs_check_alias(a, a->sendbuf, a->recvbuf) : rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	bool own = a->sendbuf == MPI_IN_PLACE;
	const void *whole = own ? a->recvbuf : a->sendbuf;
	int rc = zargs_check_op(a);
	if (rc == MPI_SUCCESS)
		rc = a->vector ? zargs_take_counts(s, a, whole, zsched_comm(s)->size)
			       : zargs_check_data(a, whole, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS && !own)
		rc = check_result(s, a);
	return rc == MPI_SUCCESS ? zargs_keep_reduction(s, a) : rc;
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
