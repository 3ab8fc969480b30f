/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives. Neighbours of the same part exchange their blocks by one native neighbourhood collective
 * on the shadow, which has their graph (libzip/world/topo.h), or by a copy where a rank is alone there. A neighbour
 * elsewhere gets a bridged message of its own. If all neighbours get the same data, one message leaves this rank.
 */
#include "libzip/coll/neighbor.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/tune.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo_order.h"

/* One side of the exchange: a block for each edge, or the same one for all. */
struct side {
	char *buf;
	bool one, vector;
	MPI_Count count; /* if not vector */
	MPI_Datatype type;
	MPI_Aint extent;
	struct zvec counts, displs;
	const MPI_Datatype *types; /* MPI_Neighbor_alltoallw, whose displacements are in bytes; else NULL */
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

/* For a rank that is alone in its part, as in inside.c: each block is an edge from and to itself. */
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

/* All members of the part call this, also those that have no neighbours there. */
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
	/* The native call matches edges in its own order once more, whatever the order of this communicator is. */
	bool again = c->nlocal > 1 && ztopo_order_native(MPI_DIST_GRAPH, ZTOPO_ALLTOALLW) != ZTOPO_ORDER_SAME;
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

/* One multicast goes to each target. A target that is to get the data twice gets a message of its own, too. */
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

/* --- the collectives --- */

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

int zneighbor_build_allgather(struct zsched *s, const struct zcoll *a)
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
	return exchange(s, &send, &recv, ztopo_order_of(t, form));
}

int zneighbor_build_alltoall(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALL);
}

int zneighbor_build_alltoallv(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALLV);
}

int zneighbor_build_alltoallw(struct zsched *s, const struct zcoll *a)
{
	return exchange_blocks(s, a, ZTOPO_ALLTOALLW);
}
