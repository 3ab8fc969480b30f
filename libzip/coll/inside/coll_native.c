/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that are native nonblocking collectives on the shadow. */
#include <stdint.h>

#include "libzip/coll/inside/coll_board.h"
#include "libzip/coll/inside/coll_counts.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/inside/coll_ordered.h"
#include "libzip/coll/inside/coll_pairs.h"
#include "libzip/shim/shim.h"

struct native {
	MPI_Comm comm;
	const void *sendbuf;
	void *recvbuf;
	MPI_Count sendcount, recvcount;
	MPI_Datatype sendtype, recvtype;
	const MPI_Count *sendcounts, *recvcounts;
	const MPI_Aint *sdispls, *rdispls;
	const MPI_Datatype *sendtypes, *recvtypes;
	MPI_Op op;
	int root;
};

static int add(struct zsched *s, int (*start)(void *, MPI_Request *), const struct native *n)
{
	struct native *copy = zsched_alloc(s, sizeof *copy);
	if (!copy)
		return MPI_ERR_NO_MEM;
	*copy = *n;
	copy->comm = zsched_comm(s)->shadow;
	return zstep_native(s, start, copy);
}

static int start_bcast(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Ibcast_c(n->recvbuf, n->recvcount, n->recvtype, n->root, n->comm, r);
}

int znative_bcast(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	if (zshared_fits(zsched_comm(s), count, type))
		return zshared_bcast(s, buf, count, type, root);
	return add(s, start_bcast,
		&(struct native){.recvbuf = buf, .recvcount = count, .recvtype = type, .root = root});
}

static int start_gather(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Igather_c(n->sendbuf, n->sendcount, n->sendtype, n->recvbuf, n->recvcount, n->recvtype, n->root,
		n->comm, r);
}

int znative_gather(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	const struct zshared_vectors all = {.buf = recvbuf, .count = recvcount, .type = recvtype};
	bool in_place = sendbuf == MPI_IN_PLACE;
	if (zshared_fits(zsched_comm(s), in_place ? recvcount : sendcount, in_place ? recvtype : sendtype))
		return zshared_gather(s, sendbuf, sendcount, sendtype, &all, root);
	return add(s, start_gather,
		&(struct native){.sendbuf = sendbuf,
			.sendcount = sendcount,
			.sendtype = sendtype,
			.recvbuf = recvbuf,
			.recvcount = recvcount,
			.recvtype = recvtype,
			.root = root});
}

/* Members of a board, where only the two of a pair know how much goes between them. */

/* One block for, or from, one member; count 0: none at all. */
static int one_block(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int member,
	struct zpairs *side)
{
	struct zcounts k;
	int rc = zcounts_make(s, &k);
	if (rc != MPI_SUCCESS)
		return rc;
	k.of[member] = count;
	*side = (struct zpairs){.buf = (void *)(uintptr_t)buf, .counts = k.of, .displs = k.at, .type = type};
	return MPI_SUCCESS;
}

/* Member i: i * step + first. NULL: no memory. */
static MPI_Count *multiples(struct zsched *s, MPI_Count step, MPI_Count first)
{
	int n = zsched_comm(s)->nlocal;
	MPI_Count *all = zsched_alloc(s, (size_t)n * sizeof *all);
	for (int i = 0; all && i < n; i++)
		all[i] = i * step + first;
	return all;
}

static int gather_pairs(struct zsched *s, const struct native *n)
{
	struct zcomm *c = zsched_comm(s);
	struct zpairs out, in = {.buf = n->recvbuf, .counts = n->recvcounts, .displs = n->rdispls, .type = n->recvtype};
	int me = c->shadow_rank[c->rank];
	in.in_place = n->sendbuf == MPI_IN_PLACE;
	int rc = in.in_place ? one_block(s, NULL, 0, MPI_BYTE, me, &out)
			     : one_block(s, n->sendbuf, n->sendcount, n->sendtype, n->root, &out);
	if (rc == MPI_SUCCESS && me != n->root)
		rc = one_block(s, NULL, 0, MPI_BYTE, me, &in);
	return rc == MPI_SUCCESS ? zpairs_exchange(s, &out, &in) : rc;
}

static int scatter_pairs(struct zsched *s, const struct native *n)
{
	struct zcomm *c = zsched_comm(s);
	struct zpairs in, out = {.buf = (void *)(uintptr_t)n->sendbuf,
				  .counts = n->sendcounts,
				  .displs = n->sdispls,
				  .type = n->sendtype};
	bool in_place = n->recvbuf == MPI_IN_PLACE;
	int me = c->shadow_rank[c->rank];
	if (me == n->root && (!out.counts || !out.displs))
		return MPI_ERR_NO_MEM;
	int rc = one_block(s, n->recvbuf, in_place ? 0 : n->recvcount, n->recvtype, n->root, &in);
	if (rc == MPI_SUCCESS && me != n->root)
		rc = one_block(s, NULL, 0, MPI_BYTE, me, &out);
	return rc == MPI_SUCCESS ? zpairs_exchange(s, &out, &in) : rc;
}

static int exchange_pairs(struct zsched *s, const struct native *n)
{
	return zpairs_exchange(s,
		&(struct zpairs){.buf = (void *)(uintptr_t)n->sendbuf,
			.counts = n->sendcounts,
			.displs = n->sdispls,
			.type = n->sendtype,
			.types = n->sendtypes},
		&(struct zpairs){.buf = n->recvbuf,
			.counts = n->recvcounts,
			.displs = n->rdispls,
			.type = n->recvtype,
			.types = n->recvtypes});
}

static int start_gatherv(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Igatherv_c(n->sendbuf, n->sendcount, n->sendtype, n->recvbuf, n->recvcounts, n->rdispls, n->recvtype,
		n->root, n->comm, r);
}

int znative_gatherv(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, int root)
{
	const struct native n = {.sendbuf = sendbuf,
		.sendcount = sendcount,
		.sendtype = sendtype,
		.recvbuf = recvbuf,
		.recvcounts = recvcounts,
		.rdispls = displs,
		.recvtype = recvtype,
		.root = root};
	if (zsched_comm(s)->board)
		return gather_pairs(s, &n);
	return add(s, start_gatherv, &n);
}

static int start_scatter(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Iscatter_c(n->sendbuf, n->sendcount, n->sendtype, n->recvbuf, n->recvcount, n->recvtype, n->root,
		n->comm, r);
}

int znative_scatter(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	if (zsched_comm(s)->board)
		return scatter_pairs(s, &(struct native){.sendbuf = sendbuf,
						.sendcounts = multiples(s, 0, sendcount),
						.sdispls = (const MPI_Aint *)multiples(s, sendcount, 0),
						.sendtype = sendtype,
						.recvbuf = recvbuf,
						.recvcount = recvcount,
						.recvtype = recvtype,
						.root = root});
	return add(s, start_scatter,
		&(struct native){.sendbuf = sendbuf,
			.sendcount = sendcount,
			.sendtype = sendtype,
			.recvbuf = recvbuf,
			.recvcount = recvcount,
			.recvtype = recvtype,
			.root = root});
}

static int start_scatterv(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Iscatterv_c(n->sendbuf, n->sendcounts, n->sdispls, n->sendtype, n->recvbuf, n->recvcount, n->recvtype,
		n->root, n->comm, r);
}

int znative_scatterv(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	const struct native n = {.sendbuf = sendbuf,
		.sendcounts = sendcounts,
		.sdispls = displs,
		.sendtype = sendtype,
		.recvbuf = recvbuf,
		.recvcount = recvcount,
		.recvtype = recvtype,
		.root = root};
	if (zsched_comm(s)->board)
		return scatter_pairs(s, &n);
	return add(s, start_scatterv, &n);
}

/* Of who is alone in its part. A native exchange would send to oneself, which MPICH 4.0.2 does by the communicator and
 * tag alone, whether for a collective or not: a receive of the application's from anywhere, with any tag, would take
 * it. */
static int copy_own(struct zsched *s, void *arg)
{
	const struct native *n = arg;
	bool typed = n->sendtypes;
	MPI_Datatype sendtype = typed ? n->sendtypes[0] : n->sendtype, recvtype = typed ? n->recvtypes[0] : n->recvtype;
	if (n->sendbuf == MPI_IN_PLACE || n->sendcounts[0] == 0)
		return MPI_SUCCESS;
	return zbuf_copy(s, zbuf_at(n->sendbuf, n->sdispls[0], typed ? 1 : zbuf_extent(sendtype)), n->sendcounts[0],
		sendtype, zbuf_at(n->recvbuf, n->rdispls[0], typed ? 1 : zbuf_extent(recvtype)), n->recvcounts[0],
		recvtype);
}

static int add_exchange(struct zsched *s, int (*start)(void *, MPI_Request *), const struct native *n)
{
	if (zsched_comm(s)->nlocal > 1)
		return zsched_comm(s)->board && n->sendbuf != MPI_IN_PLACE ? exchange_pairs(s, n) : add(s, start, n);
	struct native *copy = zsched_alloc(s, sizeof *copy);
	if (!copy)
		return MPI_ERR_NO_MEM;
	*copy = *n;
	return zstep_call(s, copy_own, copy);
}

static int start_allgatherv(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Iallgatherv_c(n->sendbuf, n->sendcount, n->sendtype, n->recvbuf, n->recvcounts, n->rdispls,
		n->recvtype, n->comm, r);
}

int znative_allgatherv(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype)
{
	return add(s, start_allgatherv,
		&(struct native){.sendbuf = sendbuf,
			.sendcount = sendcount,
			.sendtype = sendtype,
			.recvbuf = recvbuf,
			.recvcounts = recvcounts,
			.rdispls = displs,
			.recvtype = recvtype});
}

static int start_alltoallv(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Ialltoallv_c(n->sendbuf, n->sendcounts, n->sdispls, n->sendtype, n->recvbuf, n->recvcounts,
		n->rdispls, n->recvtype, n->comm, r);
}

int znative_alltoallv(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	MPI_Datatype recvtype)
{
	const struct native n = {.sendbuf = sendbuf,
		.sendcounts = sendcounts,
		.sdispls = sdispls,
		.sendtype = sendtype,
		.recvbuf = recvbuf,
		.recvcounts = recvcounts,
		.rdispls = rdispls,
		.recvtype = recvtype};
	return add_exchange(s, start_alltoallv, &n);
}

static int start_alltoallw(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Ialltoallw_c(n->sendbuf, n->sendcounts, n->sdispls, n->sendtypes, n->recvbuf, n->recvcounts,
		n->rdispls, n->recvtypes, n->comm, r);
}

int znative_alltoallw(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	const MPI_Datatype *recvtypes)
{
	const struct native n = {.sendbuf = sendbuf,
		.sendcounts = sendcounts,
		.sdispls = sdispls,
		.sendtypes = sendtypes,
		.recvbuf = recvbuf,
		.recvcounts = recvcounts,
		.rdispls = rdispls,
		.recvtypes = recvtypes};
	return add_exchange(s, start_alltoallw, &n);
}

static int start_reduce(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Ireduce_c(n->sendbuf, n->recvbuf, n->recvcount, n->recvtype, n->op, n->root, n->comm, r);
}

int znative_reduce(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	int root)
{
	return add(s, start_reduce,
		&(struct native){.sendbuf = sendbuf,
			.recvbuf = recvbuf,
			.recvcount = count,
			.recvtype = type,
			.op = op,
			.root = root});
}

static int start_scan(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Iscan_c(n->sendbuf, n->recvbuf, n->recvcount, n->recvtype, n->op, n->comm, r);
}

int znative_scan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	if (zordered_scans(s, count, type, op))
		return zordered_scan(s, sendbuf, recvbuf, count, type, op, false);
	return add(s, start_scan,
		&(struct native){.sendbuf = sendbuf,
			.recvbuf = recvbuf,
			.recvcount = count,
			.recvtype = type,
			.op = op});
}

static int start_exscan(void *arg, MPI_Request *r)
{
	struct native *n = arg;
	return zn.Iexscan_c(n->sendbuf, n->recvbuf, n->recvcount, n->recvtype, n->op, n->comm, r);
}

int znative_exscan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	if (zordered_scans(s, count, type, op))
		return zordered_scan(s, sendbuf, recvbuf, count, type, op, true);
	return add(s, start_exscan,
		&(struct native){.sendbuf = sendbuf,
			.recvbuf = recvbuf,
			.recvcount = count,
			.recvtype = type,
			.op = op});
}
