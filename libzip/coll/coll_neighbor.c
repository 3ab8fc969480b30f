/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives (MPI-4.0 section 8.6). What neighbours of the same part give each other is one native
 * neighbourhood collective on the shadow, which has their graph (topo.h), or a copy where a rank is alone there; a
 * neighbour elsewhere gets a bridged message of its own, or, where all get the same, one that leaves this rank once.
 */
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/world/topo_order.h"
#include "libzip/coll/tune.h"

/* One side of the exchange: a block for each edge, or the same one for all. */
struct side {
	char *buf;
	bool one, vector;
	MPI_Count count; /* if not vector */
	MPI_Datatype type;
	MPI_Aint extent;
	struct zvec counts, displs;
	const MPI_Datatype *types; /* Neighbor_alltoallw: and displacements in bytes; else NULL */
};

static MPI_Count count_at(const struct side *d, int i)
{
	return d->vector ? zvec_get(d->counts, i) : d->count;
}

static MPI_Datatype type_at(const struct side *d, int i)
{
	return d->types ? d->types[i] : d->type;
}

static MPI_Aint displ_at(const struct side *d, int i)
{
	if (d->types)
		return zvec_get(d->displs, i);
	return d->extent * (d->one ? 0 : d->vector ? zvec_get(d->displs, i) : i * d->count);
}

/* The edges to neighbours of my part, as the native collective on the shadow takes them. */
struct local {
	MPI_Comm comm;
	struct blocks {
		char *buf;
		MPI_Count *counts;
		MPI_Aint *displs;
		MPI_Datatype *types;
		int n;
	} send, recv;
};

static int start_local(void *arg, MPI_Request *r)
{
	struct local *x = arg;
	return zn.Ineighbor_alltoallw_c(x->send.buf, x->send.counts, x->send.displs, x->send.types, x->recv.buf,
		x->recv.counts, x->recv.displs, x->recv.types, x->comm, r);
}

/* Of who is alone in its part, as in coll_native.c: an edge from and to itself for each block. */
static int copy_own(struct zsched *s, void *arg)
{
	const struct local *x = arg;
	const struct blocks *from = &x->send, *to = &x->recv;
	int rc = MPI_SUCCESS;
	for (int i = 0; i < from->n && i < to->n && rc == MPI_SUCCESS; i++)
		if (from->counts[i] > 0)
			rc = zbuf_copy(s, from->buf + from->displs[i], from->counts[i], from->types[i],
				to->buf + to->displs[i], to->counts[i], to->types[i]);
	return rc;
}

static int make_blocks(struct zsched *s, struct blocks *b, const struct side *d, int degree)
{
	size_t n = (size_t)degree + 1;
	*b = (struct blocks){.buf = d->buf,
		.counts = zsched_alloc(s, n * sizeof *b->counts),
		.displs = zsched_alloc(s, n * sizeof *b->displs),
		.types = zsched_alloc(s, n * sizeof *b->types)};
	return b->counts && b->displs && b->types ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static void put_block(struct blocks *b, const struct side *d, int i)
{
	b->counts[b->n] = count_at(d, i);
	b->displs[b->n] = displ_at(d, i);
	b->types[b->n++] = type_at(d, i);
}

static bool is_local(const struct zcomm *c, int rank)
{
	return rank != MPI_PROC_NULL && zcomm_is_local_rank(c, rank);
}

static bool is_remote(const struct zcomm *c, int rank)
{
	return rank != MPI_PROC_NULL && !zcomm_is_local_rank(c, rank);
}

/* All members of the part call it, also who has no neighbours there. */
static int exchange_local(struct zsched *s, const struct side *send, const struct side *recv, enum ztopo_order order)
{
	const struct zcomm *c = zsched_comm(s);
	const struct ztopo *t = c->topo;
	struct local *x = zsched_alloc(s, sizeof *x);
	int rc = x ? make_blocks(s, &x->send, send, t->outdegree) : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS)
		rc = make_blocks(s, &x->recv, recv, t->indegree);
	if (rc != MPI_SUCCESS)
		return rc;
	x->comm = c->shadow;
	for (int k = 0; k < t->outdegree; k++)
		if (is_local(c, t->target[k]))
			put_block(&x->send, send, k);
	/* The native call matches them in its own order once more. */
	bool again = c->nlocal > 1 && ztopo_order_of(MPI_DIST_GRAPH, ZTOPO_ALLTOALLW) != ZTOPO_ORDER_SAME;
	for (int l = 0; l < t->indegree; l++)
		if (is_local(c, t->source[l]))
			put_block(&x->recv, recv,
				ztopo_order_place(t, again ? ztopo_order_place(t, l, ZTOPO_ORDER_REVERSED) : l, order));
	return c->nlocal > 1 ? zstep_native(s, start_local, x) : zstep_call(s, copy_own, x);
}

static void *at(const struct side *d, int i)
{
	return d->buf + displ_at(d, i);
}

static int send_each(struct zsched *s, const struct side *d)
{
	const struct zcomm *c = zsched_comm(s);
	const struct ztopo *t = c->topo;
	int rc = MPI_SUCCESS;
	for (int k = 0; k < t->outdegree && rc == MPI_SUCCESS; k++)
		if (is_remote(c, t->target[k]))
			rc = zstep_send(s, at(d, k), count_at(d, k), type_at(d, k), t->target[k]);
	return rc;
}

static bool is_among(const int *ranks, int n, int rank)
{
	for (int i = 0; i < n; i++)
		if (ranks[i] == rank)
			return true;
	return false;
}

/* Each target once by one multicast, and again on its own for what it gets twice. */
static int send_one(struct zsched *s, const struct side *d)
{
	const struct zcomm *c = zsched_comm(s);
	const struct ztopo *t = c->topo;
	int *to = zsched_alloc(s, ((size_t)t->outdegree + 1) * sizeof *to), n = 0, rc = MPI_SUCCESS;
	if (!to)
		return MPI_ERR_NO_MEM;
	for (int k = 0; k < t->outdegree; k++)
		if (is_remote(c, t->target[k]) && !(t->repeats && is_among(to, n, t->target[k])))
			to[n++] = t->target[k];
	if (n == 0)
		return MPI_SUCCESS;
	const struct ztuning_settings tune =
		ztune_choose(c, ZTUNING_ALLGATHER, zbuf_wire_bytes(d->count, d->type) * c->size);
	if (n > 1 && tune.multicast)
		rc = zstep_multicast(s, d->buf, d->count, d->type, to, n, tune.patience);
	else
		n = 0;
	for (int k = 0; k < t->outdegree && rc == MPI_SUCCESS; k++) {
		if (!is_remote(c, t->target[k]))
			continue;
		if (n > 0 && !(t->repeats && is_among(t->target, k, t->target[k])))
			continue;
		rc = zstep_send(s, d->buf, d->count, d->type, t->target[k]);
	}
	return rc;
}

static int exchange(struct zsched *s, const struct side *send, const struct side *recv, enum ztopo_order order)
{
	const struct zcomm *c = zsched_comm(s);
	const struct ztopo *t = c->topo;
	int rc = exchange_local(s, send, recv, order);
	for (int l = 0; l < t->indegree && rc == MPI_SUCCESS; l++) {
		int place = ztopo_order_place(t, l, order);
		if (is_remote(c, t->source[l]))
			rc = zstep_recv(s, at(recv, place), count_at(recv, place), type_at(recv, place), t->source[l]);
	}
	if (rc == MPI_SUCCESS)
		rc = send->one ? send_one(s, send) : send_each(s, send);
	zsched_round(s);
	return rc;
}

/* --- the functions --- */

static struct side side_of(const void *buf, MPI_Count count, MPI_Datatype type, int degree)
{
	return (struct side){.buf = (char *)(uintptr_t)buf,
		.count = count,
		.type = type,
		.extent = degree > 0 ? zbuf_extent(type) : 0};
}

static void set_vector(struct side *d, struct zvec counts, struct zvec displs, const MPI_Datatype *types)
{
	d->vector = true;
	d->counts = counts;
	d->displs = displs;
	d->types = types;
}

static int build_allgather(struct zsched *s, const struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	struct side send = side_of(a->sendbuf, a->sendcount, a->sendtype, t->outdegree),
		    recv = side_of(a->recvbuf, a->recvcount, a->recvtype, t->indegree);
	send.one = true;
	if (a->vector)
		set_vector(&recv, a->recvcounts, a->rdispls, NULL);
	return exchange(s, &send, &recv, ZTOPO_ORDER_SAME);
}

static int exchange_blocks(struct zsched *s, const struct zcoll *a, enum ztopo_form form)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	struct side send = side_of(a->sendbuf, a->sendcount, a->sendtype, t->outdegree),
		    recv = side_of(a->recvbuf, a->recvcount, a->recvtype, t->indegree);
	if (form != ZTOPO_ALLTOALL) {
		set_vector(&send, a->sendcounts, a->sdispls, a->sendtypes);
		set_vector(&recv, a->recvcounts, a->rdispls, a->recvtypes);
	}
	return exchange(s, &send, &recv, ztopo_order_of(t->kind, form));
}

static int build_alltoall(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALL);
}

static int build_alltoallv(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALLV);
}

static int build_alltoallw(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALLW);
}

/* Who has no neighbours on a side may give anything there. */
static int take_block(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int degree)
{
	return degree > 0 ? ztake_data(s, buf, count, type) : MPI_SUCCESS;
}

static int take_vector(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs, MPI_Datatype type,
	int degree)
{
	if (degree == 0)
		return MPI_SUCCESS;
	if (!counts.p || !displs.p)
		return MPI_ERR_ARG;
	return buf == MPI_IN_PLACE ? MPI_ERR_BUFFER : ztake_blocks(s, buf, counts, type, degree);
}

static int take_types(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs,
	const MPI_Datatype **types, int degree)
{
	return degree > 0 && buf == MPI_IN_PLACE ? MPI_ERR_BUFFER : ztake_types(s, buf, counts, displs, types, degree);
}

/* Of allgather, allgatherv and alltoall. */
static int take_regular(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = t ? take_block(s, a->sendbuf, a->sendcount, a->sendtype, t->outdegree) : MPI_ERR_TOPOLOGY;
	if (rc != MPI_SUCCESS)
		return rc;
	return a->vector ? take_vector(s, a->recvbuf, a->recvcounts, a->rdispls, a->recvtype, t->indegree)
			 : take_block(s, a->recvbuf, a->recvcount, a->recvtype, t->indegree);
}

static int take_alltoallv(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc =
		t ? take_vector(s, a->sendbuf, a->sendcounts, a->sdispls, a->sendtype, t->outdegree) : MPI_ERR_TOPOLOGY;
	return rc == MPI_SUCCESS ? take_vector(s, a->recvbuf, a->recvcounts, a->rdispls, a->recvtype, t->indegree) : rc;
}

static int take_alltoallw(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = t ? take_types(s, a->sendbuf, a->sendcounts, a->sdispls, &a->sendtypes, t->outdegree)
		   : MPI_ERR_TOPOLOGY;
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	return rc == MPI_SUCCESS ? take_types(s, a->recvbuf, a->recvcounts, a->rdispls, &a->recvtypes, t->indegree)
				 : rc;
}

#define REGULAR_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
#define REGULAR_ARGS (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
ZCOLL_FORMS(Neighbor_allgather, Ineighbor_allgather, REGULAR_PARAMS, REGULAR_ARGS,
	(.take = take_regular, .build = build_allgather, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))
ZCOLL_FORMS(Neighbor_alltoall, Ineighbor_alltoall, REGULAR_PARAMS, REGULAR_ARGS,
	(.take = take_regular, .build = build_alltoall, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLGATHERV_PARAMS(COUNT, DISPL)                                                                                \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
	(.take = take_regular, .build = build_allgather, .vector = true, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(displs),
		.recvtype = recvtype))

#define ALLTOALLV_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype, void *recvbuf,    \
		const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
	(.take = take_alltoallv, .build = build_alltoallv, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtype = sendtype, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtype = recvtype))

/* Displacements are MPI_Aint here in both forms. */
#define ALLTOALLW_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],       \
		void *recvbuf, const COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],     \
		MPI_Comm comm
ZCOLL_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, ALLTOALLW_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
	(.take = take_alltoallw, .build = build_alltoallw, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtypes = sendtypes, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtypes = recvtypes))
