/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce and MPI_Allreduce, blocking, nonblocking and persistent. */
#include "libzip/coll/allreduce.h"
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/reduce.h"
#include "libzip/coll/reduce_across.h"

static int take_common(struct zsched *s, struct zcoll *a, bool result)
{
	int rc = zargs_check_op(a);
	if (rc == MPI_SUCCESS && result)
		rc = zargs_check_data(a, a->recvbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS && result && a->recvcount > 0)
		rc = zargs_check_alias(a, a->sendbuf, a->recvbuf);
	if (rc == MPI_SUCCESS && !(result && a->sendbuf == MPI_IN_PLACE))
		rc = zargs_check_data(a, a->sendbuf, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zargs_keep_reduction(s, a) : rc;
}

static int take_reduce(struct zsched *s, struct zcoll *a)
{
	int rc = zargs_check_root(s, a->root);
	return rc == MPI_SUCCESS ? take_common(s, a, zsched_comm(s)->rank == a->root) : rc;
}

static int take_allreduce(struct zsched *s, struct zcoll *a)
{
	return take_common(s, a, true);
}

/* Between groups there is no MPI_IN_PLACE, and the root has no operand. */
static int take_side(struct zsched *s, struct zcoll *a, const void *buf)
{
	int rc = zargs_check_op(a);
	if (rc == MPI_SUCCESS)
		rc = zargs_check_data(a, buf, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zargs_keep_reduction(s, a) : rc;
}

static int take_result(struct zsched *s, struct zcoll *a)
{
	return take_side(s, a, a->recvbuf);
}

static int take_operand(struct zsched *s, struct zcoll *a)
{
	return take_side(s, a, a->sendbuf);
}

static int take_reduce_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_rooted(s, a, take_result, take_operand);
}

static int take_allreduce_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_both(s, a, take_allreduce);
}

static const struct zcoll_across reduce_across = {take_reduce_across, zreduce_across_build};
static const struct zcoll_across allreduce_across = {take_allreduce_across, zreduce_across_build_all};

#define REDUCE_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm
ZCOLL_FORMS(Reduce, Ireduce, REDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, root, comm),
	(.take = take_reduce, .build = zreduce_build, .across = &reduce_across, .sendbuf = sendbuf, .recvbuf = recvbuf,
		.recvcount = count, .recvtype = datatype, .op = op, .root = root))

#define ALLREDUCE_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Allreduce, Iallreduce, ALLREDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take_allreduce, .build = zallreduce_build, .across = &allreduce_across, .sendbuf = sendbuf,
		.recvbuf = recvbuf, .recvcount = count, .recvtype = datatype, .op = op))
