/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of collectives. */
#include "libzip/coll/call/args.h"

#include "libzip/schedule/sched.h"
#include "libzip/type/data.h"

int zargs_check_root(const struct zsched *s, int root)
{
	if (zsched_inter(s) && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return MPI_SUCCESS;
	return root >= 0 && root < zsched_partners(s)->size ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int zargs_check_op(MPI_Op op)
{
	return op != MPI_OP_NULL ? MPI_SUCCESS : MPI_ERR_OP;
}

int zargs_check_data(const void *buf, MPI_Count count, MPI_Datatype type)
{
	if (count < 0)
		return MPI_ERR_COUNT;
	if (ztype_check(type) != MPI_SUCCESS || (count > 0 && !ztype_is_committed(type)))
		return MPI_ERR_TYPE;
	return buf == MPI_IN_PLACE || ztype_is_nowhere(buf, count, type) ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int zargs_take_data(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type)
{
	int rc = zargs_check_data(buf, count, type);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, type) : rc;
}

int zargs_take_types(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs,
	const MPI_Datatype **types, int n)
{
	if (n > 0 && (!counts.p || !displs.p || !*types))
		return MPI_ERR_ARG;
	MPI_Datatype *kept = zsched_alloc(s, ((size_t)n + 1) * sizeof *kept);
	int rc = kept ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		kept[i] = (*types)[i];
		/* Large displacements may be addresses, counted from MPI_BOTTOM; then any pointer but NULL will do. */
		bool absolute = !buf && !displs.is_int && zvec_get(displs, i) != 0;
		rc = zargs_check_data(absolute ? kept : buf, zvec_get(counts, i), kept[i]);
		if (rc == MPI_SUCCESS)
			rc = zsched_keep_type(s, kept[i]);
	}
	*types = kept;
	return rc;
}

int zargs_take_blocks(struct zsched *s, const void *buf, struct zvec counts, MPI_Datatype type, int n)
{
	int rc = counts.p ? ztype_check(type) : MPI_ERR_ARG;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = zargs_check_data(buf, zvec_get(counts, i), type);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, type) : rc;
}

int zargs_take_vector(struct zsched *s, const void *buf, struct zvec counts, MPI_Datatype type)
{
	return zargs_take_blocks(s, buf, counts, type, zsched_partners(s)->size);
}

int zargs_take_slots_received(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? zargs_take_vector(s, a->recvbuf, a->recvcounts, a->recvtype) : zargs_take_received(s, a);
	return rc == MPI_SUCCESS && a->vector && !a->rdispls.p ? MPI_ERR_BUFFER : rc;
}

int zargs_take_slots_sent(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? zargs_take_vector(s, a->sendbuf, a->sendcounts, a->sendtype) : zargs_take_sent(s, a);
	return rc == MPI_SUCCESS && a->vector && !a->sdispls.p ? MPI_ERR_BUFFER : rc;
}

int zargs_take_both(struct zsched *s, struct zcoll *a, zcoll_take_fn *take)
{
	return a->sendbuf == MPI_IN_PLACE ? MPI_ERR_BUFFER : take(s, a);
}

int zargs_take_rooted(struct zsched *s, struct zcoll *a, zcoll_take_fn *at_root, zcoll_take_fn *elsewhere)
{
	int rc = zargs_check_root(s, a->root);
	if (rc != MPI_SUCCESS || a->root == MPI_PROC_NULL)
		return rc;
	return a->root == MPI_ROOT ? at_root(s, a) : elsewhere(s, a);
}

int zargs_take_sent(struct zsched *s, struct zcoll *a)
{
	return zargs_take_data(s, a->sendbuf, a->sendcount, a->sendtype);
}

int zargs_take_received(struct zsched *s, struct zcoll *a)
{
	return zargs_take_data(s, a->recvbuf, a->recvcount, a->recvtype);
}
