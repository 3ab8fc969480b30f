/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of collectives. */
#include "libzip/coll/call/args.h"

#include <string.h>

#include "libzip/schedule/sched.h"
#include "libzip/abi/abi.h"
#include "libzip/type/data.h"
#include "libzip/type/redop.h"

static int wrong(struct zcoll *a, int class, const char *why)
{
	a->why = why;
	return class;
}

int zargs_check_root(const struct zsched *s, int root)
{
	if (zsched_inter(s) && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return MPI_SUCCESS;
	return root >= 0 && root < zsched_partners(s)->size ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int zargs_check_op(struct zcoll *a)
{
	int rc = zredop_check(a->op, a->recvtype);
	if (rc != MPI_SUCCESS)
		return a->op == MPI_OP_NULL ? rc : wrong(a, rc, "no operation for this datatype");
	/* MPICH compares inside its own collectives, and MPI_Reduce_local ends the process. */
	return a->op == MPIX_EQUAL ? wrong(a, MPI_ERR_UNSUPPORTED_OPERATION,
					     "MPIX_EQUAL is not supported on a communicator that spans clusters")
				   : MPI_SUCCESS;
}

static int check_type(struct zcoll *a, MPI_Datatype type)
{
	if (ztype_check(type) != MPI_SUCCESS)
		return MPI_ERR_TYPE;
	return ztype_is_committed(type) ? MPI_SUCCESS : wrong(a, MPI_ERR_TYPE, "the datatype has not been committed");
}

/* The datatype is right. */
static int check_buffer(struct zcoll *a, const void *buf, MPI_Count count, MPI_Datatype type)
{
	if (count < 0)
		return wrong(a, MPI_ERR_COUNT, "a count is negative");
	if (buf == MPI_IN_PLACE)
		return wrong(a, MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
	return ztype_is_nowhere(buf, count, type) ? wrong(a, MPI_ERR_BUFFER, "a buffer is a null pointer")
						  : MPI_SUCCESS;
}

int zargs_check_data(struct zcoll *a, const void *buf, MPI_Count count, MPI_Datatype type)
{
	int rc = check_type(a, type);
	return rc == MPI_SUCCESS ? check_buffer(a, buf, count, type) : rc;
}

/* --- two buffers --- */

int zargs_check_alias(struct zcoll *a, const void *x, const void *y)
{
	return x && x == y ? wrong(a, MPI_ERR_BUFFER, "the send buffer is the receive buffer") : MPI_SUCCESS;
}

/* buf is the side with one block, and slots has a block for each rank. The types are right. Like MPICH it takes the
 * size for the extent, and looks only where both sides have the same type. */
static int check_my_block(const struct zsched *s, struct zcoll *a, const void *buf, MPI_Count count, const void *slots,
	MPI_Count slot_count, struct zvec counts, struct zvec displs)
{
	const int me = zsched_comm(s)->rank;
	if (zsched_inter(s) || buf == MPI_IN_PLACE || count == 0 || a->sendtype != a->recvtype)
		return MPI_SUCCESS;
	if (a->vector ? zvec_get(counts, me) == 0 : slot_count != count)
		return MPI_SUCCESS;
	const MPI_Count before = a->vector ? zvec_get(displs, me) : me * slot_count;
	return zargs_check_alias(a, buf, (const char *)slots + before * ztype_find(a->sendtype)->size);
}

int zargs_check_gathered(const struct zsched *s, struct zcoll *a)
{
	return check_my_block(s, a, a->sendbuf, a->sendcount, a->recvbuf, a->recvcount, a->recvcounts, a->rdispls);
}

int zargs_check_scattered(const struct zsched *s, struct zcoll *a)
{
	return check_my_block(s, a, a->recvbuf, a->recvcount, a->sendbuf, a->sendcount, a->sendcounts, a->sdispls);
}

/* --- one buffer --- */

struct side { /* what the call sends, or receives */
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	struct zvec *counts, *displs;
	const MPI_Datatype **types;
};

static struct side sent(struct zcoll *a)
{
	return (struct side){a->sendbuf, a->sendcount, a->sendtype, &a->sendcounts, &a->sdispls, &a->sendtypes};
}

static struct side received(struct zcoll *a)
{
	return (struct side){a->recvbuf, a->recvcount, a->recvtype, &a->recvcounts, &a->rdispls, &a->recvtypes};
}

static int take_block(struct zsched *s, struct zcoll *a, struct side side)
{
	int rc = zargs_check_data(a, side.buf, side.count, side.type);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, side.type) : rc;
}

static int take_some(struct zsched *s, struct zcoll *a, struct side side, MPI_Datatype *type)
{
	if (side.count != 0)
		return side.count < 0 ? wrong(a, MPI_ERR_COUNT, "a count is negative") : take_block(s, a, side);
	*type = MPI_BYTE;
	return MPI_SUCCESS;
}

/* Replaces an array of the application by a copy if the schedule is for later. */
static int keep_array(struct zsched *s, const struct zcoll *a, struct zvec *v, int n)
{
	const size_t bytes = (size_t)n * (v->is_int ? sizeof(int) : sizeof(MPI_Count));
	if (!a->keep || n == 0)
		return MPI_SUCCESS;
	void *copy = zsched_alloc(s, bytes);
	if (!copy)
		return MPI_ERR_NO_MEM;
	memcpy(copy, v->p, bytes);
	v->p = copy;
	return MPI_SUCCESS;
}

static int keep_arrays(struct zsched *s, const struct zcoll *a, struct side side, int n)
{
	int rc = keep_array(s, a, side.counts, n);
	return rc == MPI_SUCCESS && side.displs->p ? keep_array(s, a, side.displs, n) : rc;
}

static int take_vector(struct zsched *s, struct zcoll *a, struct side side, int n)
{
	if (n > 0 && (!side.counts->p || !side.displs->p))
		return wrong(a, MPI_ERR_ARG, "no counts or no displacements");
	int rc = check_type(a, side.type);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = check_buffer(a, side.buf, zvec_get(*side.counts, i), side.type);
	if (rc == MPI_SUCCESS)
		rc = keep_arrays(s, a, side, n);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, side.type) : rc;
}

/* A type of no elements may be anything, and is replaced by one that is right. */
static int take_types(struct zsched *s, struct zcoll *a, struct side side, int n)
{
	if (n > 0 && (!side.counts->p || !side.displs->p || !*side.types))
		return wrong(a, MPI_ERR_ARG, "no counts, no displacements or no datatypes");
	MPI_Datatype *kept = zsched_alloc(s, ((size_t)n + 1) * sizeof *kept);
	int rc = kept ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		const MPI_Count count = zvec_get(*side.counts, i);
		kept[i] = count == 0 ? MPI_BYTE : (*side.types)[i];
		/* Large displacements may be addresses, counted from MPI_BOTTOM; then any pointer but NULL will do. */
		bool absolute = !side.buf && !side.displs->is_int && zvec_get(*side.displs, i) != 0;
		rc = zargs_check_data(a, absolute ? kept : side.buf, count, kept[i]);
		if (rc == MPI_SUCCESS)
			rc = zsched_keep_type(s, kept[i]);
	}
	*side.types = kept;
	return rc == MPI_SUCCESS ? keep_arrays(s, a, side, n) : rc;
}

int zargs_take_sent(struct zsched *s, struct zcoll *a)
{
	return take_block(s, a, sent(a));
}

int zargs_take_received(struct zsched *s, struct zcoll *a)
{
	return take_block(s, a, received(a));
}

int zargs_take_some_sent(struct zsched *s, struct zcoll *a)
{
	return take_some(s, a, sent(a), &a->sendtype);
}

int zargs_take_some_received(struct zsched *s, struct zcoll *a)
{
	return take_some(s, a, received(a), &a->recvtype);
}

int zargs_take_vector_sent(struct zsched *s, struct zcoll *a, int n)
{
	return take_vector(s, a, sent(a), n);
}

int zargs_take_vector_received(struct zsched *s, struct zcoll *a, int n)
{
	return take_vector(s, a, received(a), n);
}

int zargs_take_types_sent(struct zsched *s, struct zcoll *a, int n)
{
	return take_types(s, a, sent(a), n);
}

int zargs_take_types_received(struct zsched *s, struct zcoll *a, int n)
{
	return take_types(s, a, received(a), n);
}

int zargs_take_slots_received(struct zsched *s, struct zcoll *a)
{
	return a->vector ? zargs_take_vector_received(s, a, zsched_partners(s)->size) : zargs_take_received(s, a);
}

int zargs_take_slots_sent(struct zsched *s, struct zcoll *a)
{
	return a->vector ? zargs_take_vector_sent(s, a, zsched_partners(s)->size) : zargs_take_sent(s, a);
}

int zargs_take_counts(struct zsched *s, struct zcoll *a, const void *buf, int n)
{
	int rc = a->recvcounts.p ? check_type(a, a->recvtype) : wrong(a, MPI_ERR_ARG, "no counts");
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = check_buffer(a, buf, zvec_get(a->recvcounts, i), a->recvtype);
	if (rc == MPI_SUCCESS)
		rc = keep_array(s, a, &a->recvcounts, n);
	return rc;
}

int zargs_keep_reduction(struct zsched *s, struct zcoll *a)
{
	int rc = zsched_keep_type(s, a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

/* --- on intercommunicators --- */

int zargs_take_both(struct zsched *s, struct zcoll *a, zcoll_take_fn *take)
{
	return a->sendbuf == MPI_IN_PLACE ? wrong(a, MPI_ERR_BUFFER, "MPI_IN_PLACE on an intercommunicator")
					  : take(s, a);
}

int zargs_take_rooted(struct zsched *s, struct zcoll *a, zcoll_take_fn *at_root, zcoll_take_fn *elsewhere)
{
	int rc = zargs_check_root(s, a->root);
	if (rc != MPI_SUCCESS || a->root == MPI_PROC_NULL)
		return rc;
	return a->root == MPI_ROOT ? at_root(s, a) : elsewhere(s, a);
}
