/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that are collectives of the members of my part. */
#include "libzip/coll/inside/inside.h"

#include <stdint.h>

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/inside/ordered.h"
#include "libzip/coll/inside/pairs.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"

/* One side of a collective: one count, or one for each member with displacements, and perhaps with types. */
struct side {
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	const MPI_Count *counts;
	const MPI_Aint *displs;
	const MPI_Datatype *types;
};

/* The arguments of a native collective, in the schedule's memory. */
struct native {
	MPI_Comm comm;
	struct side send, recv;
	MPI_Op op;
	int root;
};

static struct side plain(const void *buf, MPI_Count count, MPI_Datatype type)
{
	return (struct side){.buf = (void *)(uintptr_t)buf, .count = count, .type = type};
}

static struct side vector(const void *buf, const MPI_Count *counts, const MPI_Aint *displs, MPI_Datatype type)
{
	return (struct side){.buf = (void *)(uintptr_t)buf, .counts = counts, .displs = displs, .type = type};
}

static struct native *keep(struct zsched *s, const struct native *n)
{
	struct native *copy = zsched_alloc(s, sizeof *copy);
	if (copy) {
		*copy = *n;
		copy->comm = zsched_comm(s)->shadow;
	}
	return copy;
}

static int add(struct zsched *s, int (*start)(void *, MPI_Request *), const struct native *n)
{
	struct native *copy = keep(s, n);
	return copy ? zstep_native(s, start, copy) : MPI_ERR_NO_MEM;
}

/* --- to or from a root, and of the same size in all members --- */

static int start_bcast(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Ibcast_c(n->recv.buf, n->recv.count, n->recv.type, n->root, n->comm, r);
}

int zinside_bcast(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	if (zshared_fits(zsched_comm(s), count, type))
		return zshared_bcast(s, buf, count, type, root);
	return add(s, start_bcast, &(struct native){.recv = plain(buf, count, type), .root = root});
}

static int start_gather(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Igather_c(n->send.buf, n->send.count, n->send.type, n->recv.buf, n->recv.count, n->recv.type, n->root,
		n->comm, r);
}

int zinside_gather(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	const struct zshared_vectors all = {.buf = recvbuf, .count = recvcount, .type = recvtype};
	bool in_place = sendbuf == MPI_IN_PLACE;
	if (zshared_fits(zsched_comm(s), in_place ? recvcount : sendcount, in_place ? recvtype : sendtype))
		return zshared_gather(s, sendbuf, sendcount, sendtype, &all, root);
	return add(s, start_gather,
		&(struct native){.send = plain(sendbuf, sendcount, sendtype),
			.recv = plain(recvbuf, recvcount, recvtype),
			.root = root});
}

/* --- blocks whose sizes only the two members of a pair know: by pairs where there is a board --- */

/* One block for, or from, one member; count 0: no block at all. */
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

static struct zpairs pairs_of(const struct side *d)
{
	return (struct zpairs){.buf = d->buf,
		.counts = d->counts,
		.displs = d->displs,
		.type = d->type,
		.types = d->types};
}

/* For member i: i * step + first. NULL: no memory. */
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
	struct zpairs out, in = pairs_of(&n->recv);
	int me = zcomm_shadow_rank(c, c->rank);
	in.in_place = n->send.buf == MPI_IN_PLACE;
	int rc = in.in_place ? one_block(s, NULL, 0, MPI_BYTE, me, &out)
			     : one_block(s, n->send.buf, n->send.count, n->send.type, n->root, &out);
	if (rc == MPI_SUCCESS && me != n->root)
		rc = one_block(s, NULL, 0, MPI_BYTE, me, &in);
	return rc == MPI_SUCCESS ? zpairs_exchange(s, &out, &in) : rc;
}

static int scatter_pairs(struct zsched *s, const struct native *n)
{
	struct zcomm *c = zsched_comm(s);
	struct zpairs in, out = pairs_of(&n->send);
	bool in_place = n->recv.buf == MPI_IN_PLACE;
	int me = zcomm_shadow_rank(c, c->rank);
	if (me == n->root && (!out.counts || !out.displs))
		return MPI_ERR_NO_MEM;
	int rc = one_block(s, n->recv.buf, in_place ? 0 : n->recv.count, n->recv.type, n->root, &in);
	if (rc == MPI_SUCCESS && me != n->root)
		rc = one_block(s, NULL, 0, MPI_BYTE, me, &out);
	return rc == MPI_SUCCESS ? zpairs_exchange(s, &out, &in) : rc;
}

static int start_gatherv(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Igatherv_c(n->send.buf, n->send.count, n->send.type, n->recv.buf, n->recv.counts, n->recv.displs,
		n->recv.type, n->root, n->comm, r);
}

int zinside_gatherv(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, int root)
{
	const struct native n = {.send = plain(sendbuf, sendcount, sendtype),
		.recv = vector(recvbuf, recvcounts, displs, recvtype),
		.root = root};
	return zsched_comm(s)->board ? gather_pairs(s, &n) : add(s, start_gatherv, &n);
}

static int start_scatter(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Iscatter_c(n->send.buf, n->send.count, n->send.type, n->recv.buf, n->recv.count, n->recv.type,
		n->root, n->comm, r);
}

int zinside_scatter(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	struct native n = {.send = plain(sendbuf, sendcount, sendtype),
		.recv = plain(recvbuf, recvcount, recvtype),
		.root = root};
	if (!zsched_comm(s)->board)
		return add(s, start_scatter, &n);
	n.send.counts = multiples(s, 0, sendcount);
	n.send.displs = (const MPI_Aint *)multiples(s, sendcount, 0);
	return scatter_pairs(s, &n);
}

static int start_scatterv(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Iscatterv_c(n->send.buf, n->send.counts, n->send.displs, n->send.type, n->recv.buf, n->recv.count,
		n->recv.type, n->root, n->comm, r);
}

int zinside_scatterv(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	const struct native n = {.send = vector(sendbuf, sendcounts, displs, sendtype),
		.recv = plain(recvbuf, recvcount, recvtype),
		.root = root};
	return zsched_comm(s)->board ? scatter_pairs(s, &n) : add(s, start_scatterv, &n);
}

/* The exchange of a member that is alone in its part. A native exchange would send to this process itself. MPICH 4.0.2
 * matches such messages by communicator and tag alone, whether they belong to a collective or not: a receive of the
 * application's from any source with any tag would take them. */
static int copy_own(struct zsched *s, void *arg)
{
	const struct native *n = arg;
	const struct side *from = &n->send, *to = &n->recv;
	bool typed = from->types;
	MPI_Datatype sendtype = typed ? from->types[0] : from->type, recvtype = typed ? to->types[0] : to->type;
	if (from->buf == MPI_IN_PLACE || from->counts[0] == 0)
		return MPI_SUCCESS;
	return zbuf_copy(s, zbuf_at(from->buf, from->displs[0], typed ? 1 : zbuf_extent(sendtype)), from->counts[0],
		sendtype, zbuf_at(to->buf, to->displs[0], typed ? 1 : zbuf_extent(recvtype)), to->counts[0], recvtype);
}

static int add_exchange(struct zsched *s, int (*start)(void *, MPI_Request *), const struct native *n)
{
	const struct zcomm *c = zsched_comm(s);
	if (c->nlocal > 1 && c->board && n->send.buf != MPI_IN_PLACE) {
		const struct zpairs out = pairs_of(&n->send), in = pairs_of(&n->recv);
		return zpairs_exchange(s, &out, &in);
	}
	if (c->nlocal > 1)
		return add(s, start, n);
	struct native *copy = keep(s, n);
	return copy ? zstep_call(s, copy_own, copy) : MPI_ERR_NO_MEM;
}

static int start_alltoallv(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Ialltoallv_c(n->send.buf, n->send.counts, n->send.displs, n->send.type, n->recv.buf, n->recv.counts,
		n->recv.displs, n->recv.type, n->comm, r);
}

int zinside_alltoallv(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	MPI_Datatype recvtype)
{
	return add_exchange(s, start_alltoallv,
		&(struct native){.send = vector(sendbuf, sendcounts, sdispls, sendtype),
			.recv = vector(recvbuf, recvcounts, rdispls, recvtype)});
}

static int start_alltoallw(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Ialltoallw_c(n->send.buf, n->send.counts, n->send.displs, n->send.types, n->recv.buf, n->recv.counts,
		n->recv.displs, n->recv.types, n->comm, r);
}

int zinside_alltoallw(struct zsched *s, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	const MPI_Datatype *recvtypes)
{
	struct native n = {.send = vector(sendbuf, sendcounts, sdispls, 0),
		.recv = vector(recvbuf, recvcounts, rdispls, 0)};
	n.send.types = sendtypes;
	n.recv.types = recvtypes;
	return add_exchange(s, start_alltoallw, &n);
}

/* --- always native --- */

static int start_allgatherv(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Iallgatherv_c(n->send.buf, n->send.count, n->send.type, n->recv.buf, n->recv.counts, n->recv.displs,
		n->recv.type, n->comm, r);
}

int zinside_allgatherv(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype)
{
	return add(s, start_allgatherv,
		&(struct native){.send = plain(sendbuf, sendcount, sendtype),
			.recv = vector(recvbuf, recvcounts, displs, recvtype)});
}

static int start_reduce(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Ireduce_c(n->send.buf, n->recv.buf, n->recv.count, n->recv.type, n->op, n->root, n->comm, r);
}

/* The arguments of a reduction or scan. */
static struct native reduction(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	int root)
{
	return (struct native){.send = plain(sendbuf, count, type),
		.recv = plain(recvbuf, count, type),
		.op = op,
		.root = root};
}

int zinside_reduce(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	int root)
{
	const struct native n = reduction(sendbuf, recvbuf, count, type, op, root);
	return add(s, start_reduce, &n);
}

/* --- in the order of the ranks --- */

static int start_scan(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Iscan_c(n->send.buf, n->recv.buf, n->recv.count, n->recv.type, n->op, n->comm, r);
}

static int start_exscan(void *arg, MPI_Request *r)
{
	const struct native *n = arg;
	return zn.Iexscan_c(n->send.buf, n->recv.buf, n->recv.count, n->recv.type, n->op, n->comm, r);
}

static int scan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	bool exclusive)
{
	if (zordered_scans(s, count, type, op))
		return zordered_scan(s, sendbuf, recvbuf, count, type, op, exclusive);
	const struct native n = reduction(sendbuf, recvbuf, count, type, op, 0);
	return add(s, exclusive ? start_exscan : start_scan, &n);
}

int zinside_scan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	return scan(s, sendbuf, recvbuf, count, type, op, false);
}

int zinside_exscan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	return scan(s, sendbuf, recvbuf, count, type, op, true);
}
