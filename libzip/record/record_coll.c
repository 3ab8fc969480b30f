/* SPDX-License-Identifier: BSD-3-Clause */
/* From the arguments of a collective (struct zrecord_args) to bytes handed in and sent. See record_coll.h. */
#include "libzip/record/record_coll.h"

#include "common/graph/graph_model.h"
#include "libzip/shim/shim.h"

struct call {
	const struct zrecord_args *a;
	struct zrecord_comm *c;
	struct zrecord_sum *sum;
	zrecord_pair *pair;
	void *ctx;
	bool is_root, gives; /* gives: this rank sends towards the root */
};

static uint64_t size_of(MPI_Datatype type)
{
	MPI_Count size = 0;

	return type != MPI_DATATYPE_NULL && zn.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)size : 0;
}

static uint64_t count_at(const struct zrecord_args *a, const void *counts, int i)
{
	MPI_Count n = a->large ? ((const MPI_Count *)counts)[i] : (MPI_Count)((const int *)counts)[i];

	return n > 0 ? (uint64_t)n : 0;
}

static uint64_t send_bytes(const struct call *k)
{
	return (uint64_t)k->a->sendcount * size_of(k->a->sendtype);
}

static uint64_t recv_bytes(const struct call *k)
{
	return (uint64_t)k->a->recvcount * size_of(k->a->recvtype);
}

static bool in_place(const struct call *k)
{
	return k->a->sendbuf == MPI_IN_PLACE;
}

/* A collective that the model decomposes, with `unit` bytes a block. */
static void uniform(const struct call *k, uint64_t unit, uint64_t handed)
{
	k->sum->units = unit;
	k->sum->sends = unit > 0 || k->a->kind == ZGRAPH_BARRIER;
	k->sum->bytes = handed;
}

/* A collective counted message by message: counts[i] elements of a type to member i, or to neighbour i. */
static void vector(const struct call *k, const void *counts, MPI_Datatype type, const MPI_Datatype *types, int n,
	const int *target)
{
	uint64_t size = types ? 0 : size_of(type);

	for (int i = 0; i < n; i++) {
		uint64_t bytes = count_at(k->a, counts, i);
		if (bytes)
			bytes *= types ? size_of(types[i]) : size;
		k->sum->bytes += bytes;
		if (bytes && (target || k->c->inter || i != k->c->rank))
			k->pair(k->ctx, k->c, target ? target[i] : i, bytes, 1);
	}
}

static void count_rooted(const struct call *k)
{
	const struct zrecord_args *a = k->a;
	uint64_t n = (uint64_t)k->c->npeers, unit;

	switch (a->kind) {
	case ZGRAPH_BCAST:
		unit = send_bytes(k);
		uniform(k, unit, k->is_root ? unit : 0);
		break;
	case ZGRAPH_REDUCE:
		unit = k->gives ? send_bytes(k) : 0;
		uniform(k, unit, unit);
		break;
	case ZGRAPH_GATHER:
		unit = !k->gives ? 0 : k->is_root && in_place(k) ? recv_bytes(k) : send_bytes(k);
		uniform(k, unit, unit);
		break;
	case ZGRAPH_GATHERV:
		unit = !k->gives		   ? 0
		       : k->is_root && in_place(k) ? count_at(a, a->recvcounts, k->c->rank) * size_of(a->recvtype)
						   : send_bytes(k);
		uniform(k, unit, unit);
		break;
	case ZGRAPH_SCATTER:
		unit = k->is_root ? send_bytes(k) : recv_bytes(k);
		uniform(k, unit, k->is_root ? n * unit : 0);
		break;
	default: /* ZGRAPH_SCATTERV */
		if (k->is_root)
			vector(k, a->sendcounts, a->sendtype, NULL, k->c->npeers, NULL);
	}
}

/* All blocks except the next rank's own. */
static void count_allgatherv(const struct call *k)
{
	const struct zrecord_args *a = k->a;
	uint64_t size = size_of(a->recvtype), all = 0, own = 0, next = 0;

	for (int i = 0; i < k->c->npeers; i++) {
		uint64_t bytes = count_at(a, a->recvcounts, i) * size;
		all += bytes;
		own = i == k->c->rank ? bytes : own;
		next = i == (k->c->rank + 1) % k->c->npeers ? bytes : next;
	}
	uniform(k, all - next, k->c->inter ? send_bytes(k) : own);
}

static void count_all(const struct call *k)
{
	const struct zrecord_args *a = k->a;
	uint64_t n = (uint64_t)k->c->npeers, unit;
	bool there = in_place(k);

	switch (a->kind) {
	case ZGRAPH_ALLREDUCE:
	case ZGRAPH_SCAN:
	case ZGRAPH_EXSCAN:
		unit = send_bytes(k);
		uniform(k, unit, unit);
		break;
	case ZGRAPH_ALLGATHER:
		unit = recv_bytes(k);
		uniform(k, unit, k->c->inter ? send_bytes(k) : unit);
		break;
	case ZGRAPH_ALLGATHERV:
		count_allgatherv(k);
		break;
	case ZGRAPH_ALLTOALL:
		unit = k->c->inter ? send_bytes(k) : recv_bytes(k);
		uniform(k, unit, n * unit);
		break;
	case ZGRAPH_ALLTOALLV:
		vector(k, there ? a->recvcounts : a->sendcounts, there ? a->recvtype : a->sendtype, NULL, k->c->npeers,
			NULL);
		break;
	case ZGRAPH_ALLTOALLW:
		vector(k, there ? a->recvcounts : a->sendcounts, MPI_DATATYPE_NULL, there ? a->recvtypes : a->sendtypes,
			k->c->npeers, NULL);
		break;
	case ZGRAPH_REDUCE_SCATTER:
		vector(k, a->recvcounts, a->sendtype, NULL, k->c->inter ? k->c->size : k->c->npeers, NULL);
		break;
	case ZGRAPH_REDUCE_SCATTER_BLOCK:
		unit = (uint64_t)a->recvcount * size_of(a->sendtype);
		uniform(k, unit, n * unit);
		break;
	default: /* ZGRAPH_BARRIER */
		uniform(k, 0, 0);
	}
}

static void count_neighbours(const struct call *k)
{
	const struct zrecord_args *a = k->a;
	uint64_t unit;

	if (!zrecord_comm_targets(k->c))
		return;
	switch (a->kind) {
	case ZGRAPH_NEIGHBOR_ALLTOALLV:
		vector(k, a->sendcounts, a->sendtype, NULL, k->c->ntargets, k->c->target);
		return;
	case ZGRAPH_NEIGHBOR_ALLTOALLW:
		vector(k, a->sendcounts, MPI_DATATYPE_NULL, a->sendtypes, k->c->ntargets, k->c->target);
		return;
	default:
		unit = send_bytes(k);
		for (int i = 0; unit && i < k->c->ntargets; i++)
			k->pair(k->ctx, k->c, k->c->target[i], unit, 1);
		k->sum->bytes = a->kind == ZGRAPH_NEIGHBOR_ALLTOALL ? unit * (uint64_t)k->c->ntargets : unit;
	}
}

static void no_pair(void *ctx, const struct zrecord_comm *c, int peer, uint64_t bytes, uint64_t messages)
{
	(void)ctx;
	(void)c;
	(void)peer;
	(void)bytes;
	(void)messages;
}

void zrecord_coll_count(const struct zrecord_args *a, struct zrecord_comm *c, struct zrecord_sum *sum,
	zrecord_pair *pair, void *ctx)
{
	/* between two groups calls are counted, but not decomposed */
	struct call k = {.a = a, .c = c, .sum = sum, .pair = c->inter ? no_pair : pair, .ctx = ctx};

	k.is_root = c->inter ? a->root == MPI_ROOT : a->root == c->rank;
	k.gives = !c->inter || a->root >= 0;
	*sum = (struct zrecord_sum){.kind = a->kind, .calls = 1};
	switch (a->kind) {
	case ZGRAPH_BCAST:
	case ZGRAPH_REDUCE:
	case ZGRAPH_GATHER:
	case ZGRAPH_GATHERV:
	case ZGRAPH_SCATTER:
	case ZGRAPH_SCATTERV:
		sum->root = a->root;
		count_rooted(&k);
		break;
	case ZGRAPH_NEIGHBOR_ALLGATHER:
	case ZGRAPH_NEIGHBOR_ALLGATHERV:
	case ZGRAPH_NEIGHBOR_ALLTOALL:
	case ZGRAPH_NEIGHBOR_ALLTOALLV:
	case ZGRAPH_NEIGHBOR_ALLTOALLW:
		count_neighbours(&k);
		break;
	default:
		count_all(&k);
	}
}

struct expansion {
	const struct zrecord_comm *c;
	const struct zrecord_sum *sum;
	zrecord_pair *pair;
	void *ctx;
};

static void expand_one(void *ctx, int peer, uint64_t blocks, uint64_t messages)
{
	const struct expansion *e = ctx;

	e->pair(e->ctx, e->c, peer, blocks * e->sum->units, messages * e->sum->sends);
}

void zrecord_coll_expand(const struct zrecord_comm *c, const struct zrecord_sum *sum, zrecord_pair *pair, void *ctx)
{
	struct expansion e = {c, sum, pair, ctx};

	if (sum->sends && !c->inter)
		zgraph_model(sum->kind, c->rank, c->size, sum->root, expand_one, &e);
}
