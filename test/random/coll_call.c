/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a collective in one of its six forms. See coll.h. */
#include "coll.h"

#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* The three forms of a function with these arguments. */
#define FORMS(NAME, NAME_I, NAME_INIT, ...)                                                                            \
	(c->form == COLL_BLOCKING	      ? NAME(__VA_ARGS__, comm)                                                \
		: c->form == COLL_NONBLOCKING ? NAME_I(__VA_ARGS__, comm, &c->request)                                 \
					      : NAME_INIT(__VA_ARGS__, comm, MPI_INFO_NULL, &c->request))
/* All six: arguments in int, arguments in large counts. */
#define CALL(N, n, INT, LARGE)                                                                                         \
	(c->shape.large ? FORMS(MPI_##N##_c, MPI_I##n##_c, MPI_##N##_init_c, LARGE)                                    \
			: FORMS(MPI_##N, MPI_I##n, MPI_##N##_init, INT))
#define ARGS(...) __VA_ARGS__
/* Both have the same arguments. */
#define SAME(N, n, ...) CALL(N, n, ARGS(__VA_ARGS__), ARGS(__VA_ARGS__))

#define ONE(part) c->part.at, c->part.count, c->part.type
#define MANY(part) c->part.at, c->part.counts, c->part.displs, c->part.type
#define MANY_C(part) c->part.at, c->part.counts_c, c->part.displs_c, c->part.type
#define ALL(part) c->part.at, c->part.counts, c->part.displs, c->part.types
#define ALL_C(part) c->part.at, c->part.counts_c, c->part.displs_c, c->part.types
/* in neighbourhoods displacements are always addresses */
#define ALL_N(part) c->part.at, c->part.counts, c->part.displs_c, c->part.types
#define REDUCED c->out.at, c->in.at, c->in.count, c->in.type, c->op

static int call_barrier(struct coll *c)
{
	MPI_Comm comm = c->comm->handle;
	return c->form == COLL_BLOCKING	     ? MPI_Barrier(comm)
	       : c->form == COLL_NONBLOCKING ? MPI_Ibarrier(comm, &c->request)
					     : MPI_Barrier_init(comm, MPI_INFO_NULL, &c->request);
}

static int call_move(struct coll *c)
{
	MPI_Comm comm = c->comm->handle;
	switch (c->shape.kind) {
	case COLL_BCAST:
		return SAME(Bcast, bcast, ONE(in), c->root);
	case COLL_GATHER:
		return SAME(Gather, gather, ONE(out), ONE(in), c->root);
	case COLL_GATHERV:
		return CALL(Gatherv, gatherv, ARGS(ONE(out), MANY(in), c->root), ARGS(ONE(out), MANY_C(in), c->root));
	case COLL_SCATTER:
		return SAME(Scatter, scatter, ONE(out), ONE(in), c->root);
	case COLL_SCATTERV:
		return CALL(Scatterv, scatterv, ARGS(MANY(out), ONE(in), c->root), ARGS(MANY_C(out), ONE(in), c->root));
	case COLL_ALLGATHER:
		return SAME(Allgather, allgather, ONE(out), ONE(in));
	case COLL_ALLGATHERV:
		return CALL(Allgatherv, allgatherv, ARGS(ONE(out), MANY(in)), ARGS(ONE(out), MANY_C(in)));
	case COLL_ALLTOALL:
		return SAME(Alltoall, alltoall, ONE(out), ONE(in));
	case COLL_ALLTOALLV:
		return CALL(Alltoallv, alltoallv, ARGS(MANY(out), MANY(in)), ARGS(MANY_C(out), MANY_C(in)));
	case COLL_ALLTOALLW:
		return CALL(Alltoallw, alltoallw, ARGS(ALL(out), ALL(in)), ARGS(ALL_C(out), ALL_C(in)));
	default:
		return call_barrier(c);
	}
}

/* In place of neighbor_alltoallw of MPICH 4.0.2, which moves nothing where a rank has no neighbours on one side. */
static int one_by_one(struct coll *c)
{
	const struct neighbors *from = &c->comm->from[c->me], *to = &c->comm->to[c->me];
	MPI_Request r[2 * MOST_NEIGHBORS];
	MPI_Status status[2 * MOST_NEIGHBORS];
	int n = 0;
	for (int i = 0; i < from->n; i++)
		TRY(MPI_Irecv((char *)c->in.at + c->in.displs_c[i], c->in.counts[i], c->in.types[i], from->at[i], 901,
			c->comm->handle, &r[n++]));
	for (int i = 0; i < to->n; i++)
		TRY(MPI_Isend((char *)c->out.at + c->out.displs_c[i], c->out.counts[i], c->out.types[i], to->at[i], 901,
			c->comm->handle, &r[n++]));
	return MPI_Waitall(n, r, status);
}

static int call_neighbor(struct coll *c)
{
	MPI_Comm comm = c->comm->handle;
	if (c->shape.kind == COLL_NEIGHBOR_ALLTOALLW && model_is_native(c->comm) && model_library_is("4.0."))
		return one_by_one(c);
	switch (c->shape.kind) {
	case COLL_NEIGHBOR_ALLGATHER:
		return SAME(Neighbor_allgather, neighbor_allgather, ONE(out), ONE(in));
	case COLL_NEIGHBOR_ALLGATHERV:
		return CALL(Neighbor_allgatherv, neighbor_allgatherv, ARGS(ONE(out), MANY(in)),
			ARGS(ONE(out), MANY_C(in)));
	case COLL_NEIGHBOR_ALLTOALL:
		return SAME(Neighbor_alltoall, neighbor_alltoall, ONE(out), ONE(in));
	case COLL_NEIGHBOR_ALLTOALLV:
		return CALL(Neighbor_alltoallv, neighbor_alltoallv, ARGS(MANY(out), MANY(in)),
			ARGS(MANY_C(out), MANY_C(in)));
	default:
		return CALL(Neighbor_alltoallw, neighbor_alltoallw, ARGS(ALL_N(out), ALL_N(in)),
			ARGS(ALL_C(out), ALL_C(in)));
	}
}

/* MPICH 4.0.2 crashes in MPI_Reduce in place where the root is not rank 0, from 2 kB on. */
static int reduce_copied(struct coll *c)
{
	void *mine = malloc(c->in.buffer.len + 1);
	memcpy(mine, c->in.at, c->in.buffer.len);
	int rc = MPI_Reduce(mine, c->in.at, c->in.count, c->in.type, c->op, c->root, c->comm->handle);
	free(mine);
	return rc;
}

int coll_call(struct coll *c)
{
	MPI_Comm comm = c->comm->handle;
	switch (c->shape.kind) {
	case COLL_REDUCE:
		if (c->out.at == MPI_IN_PLACE && c->form == COLL_BLOCKING && c->root != 0 && model_is_native(c->comm))
			return reduce_copied(c);
		return SAME(Reduce, reduce, REDUCED, c->root);
	case COLL_ALLREDUCE:
		return SAME(Allreduce, allreduce, REDUCED);
	case COLL_REDUCE_SCATTER:
		return CALL(Reduce_scatter, reduce_scatter, ARGS(c->out.at, c->in.at, c->in.counts, c->in.type, c->op),
			ARGS(c->out.at, c->in.at, c->in.counts_c, c->in.type, c->op));
	case COLL_REDUCE_SCATTER_BLOCK:
		return SAME(Reduce_scatter_block, reduce_scatter_block, REDUCED);
	case COLL_SCAN:
		return SAME(Scan, scan, REDUCED);
	case COLL_EXSCAN:
		return SAME(Exscan, exscan, REDUCED);
	default:
		return c->shape.kind >= COLL_NEIGHBOR_ALLGATHER ? call_neighbor(c) : call_move(c);
	}
}
