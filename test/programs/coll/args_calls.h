/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective with right arguments, which coll_args.c spoils one by one, and its call in any of the six forms:
 * blocking, nonblocking and persistent, each with int and with large counts.
 */
#ifndef ZIP_TEST_ARGS_CALLS_H
#define ZIP_TEST_ARGS_CALLS_H

#include "../check.h"
#include "kinds.h"

#define FORMS 6 /* blocking, blocking large, nonblocking, ... */

#define MOST 16
struct args {
	MPI_Comm comm;
	int n; /* slots: ranks, or neighbours */
	int root;
	const void *out;
	void *in;
	MPI_Datatype st, rt;
	MPI_Op op;
	MPI_Request *request;
	struct { /* counts and displacements; [0] also is the count of calls without an array */
		int sc[MOST], sd[MOST], rc[MOST], rd[MOST];
		MPI_Aint sb[MOST], rb[MOST]; /* neighbor_alltoallw */
	} i;
	struct {
		MPI_Count sc[MOST], rc[MOST];
		MPI_Aint sd[MOST], rd[MOST], sb[MOST], rb[MOST];
	} c;
	int same_counts; /* alltoallv, alltoallw: the array of the counts sent also is that of the counts received */
	MPI_Datatype sts[MOST], rts[MOST];
};

static inline int has_root(enum kind k)
{
	return k <= SCATTERV || k == REDUCE;
}
static inline int has_op(enum kind k)
{
	return k >= REDUCE && k <= EXSCAN;
}
static inline int is_neighbor(enum kind k)
{
	return k >= NEIGHBOR_ALLGATHER;
}
static inline int is_w(enum kind k)
{
	return k == ALLTOALLW || k == NEIGHBOR_ALLTOALLW;
}
/* Counts for each rank on the side that sends, or receives. */
static inline int sends_vector(enum kind k)
{
	return k == SCATTERV || k == ALLTOALLV || k == NEIGHBOR_ALLTOALLV || is_w(k);
}
static inline int receives_vector(enum kind k)
{
	return k == GATHERV || k == ALLGATHERV || k == NEIGHBOR_ALLGATHERV || k == REDUCE_SCATTER ||
	       (sends_vector(k) && k != SCATTERV);
}

/* One int for each rank, in two buffers. */
static inline void right(struct args *a, enum kind k, MPI_Comm comm, int n, int root)
{
	static int out[4 * MOST], in[4 * MOST];
	memset(a, 0, sizeof *a);
	a->comm = comm;
	a->n = n;
	a->root = root;
	a->out = out;
	a->in = in;
	a->st = a->rt = MPI_INT;
	a->op = MPI_SUM;
	for (int j = 0; j < MOST; j++) {
		a->i.sc[j] = a->i.rc[j] = 1;
		a->c.sc[j] = a->c.rc[j] = 1;
		a->i.sb[j] = a->i.rb[j] = a->c.sb[j] = a->c.rb[j] = 4 * j;
		a->i.sd[j] = a->i.rd[j] = is_w(k) ? 4 * j : j;
		a->c.sd[j] = a->c.rd[j] = is_w(k) ? 4 * j : j;
		a->sts[j] = a->rts[j] = MPI_INT;
	}
}

#define CALL(Name, Iname, ARGS)                                                                                        \
	switch (form) {                                                                                                \
	case 0:                                                                                                        \
		return MPI_##Name(ARGS(i), a->comm);                                                                   \
	case 1:                                                                                                        \
		return MPI_##Name##_c(ARGS(c), a->comm);                                                               \
	case 2:                                                                                                        \
		return MPI_##Iname(ARGS(i), a->comm, a->request);                                                      \
	case 3:                                                                                                        \
		return MPI_##Iname##_c(ARGS(c), a->comm, a->request);                                                  \
	case 4:                                                                                                        \
		return MPI_##Name##_init(ARGS(i), a->comm, MPI_INFO_NULL, a->request);                                 \
	default:                                                                                                       \
		return MPI_##Name##_init_c(ARGS(c), a->comm, MPI_INFO_NULL, a->request);                               \
	}
#define SENT(v) a->out, a->v.sc[0], a->st
#define RECEIVED(v) a->in, a->v.rc[0], a->rt
#define SENT_V(v) a->out, a->v.sc, a->v.sd, a->st
#define RECEIVED_V(v) a->in, a->same_counts ? a->v.sc : a->v.rc, a->v.rd, a->rt
#define BLOCKS(v) SENT(v), RECEIVED(v)
#define BLOCKS_ROOT(v) BLOCKS(v), a->root
#define GATHER_V(v) SENT(v), RECEIVED_V(v)
#define GATHER_V_ROOT(v) GATHER_V(v), a->root
#define SCATTER_V_ROOT(v) SENT_V(v), RECEIVED(v), a->root
#define ALLTOALL_V(v) SENT_V(v), RECEIVED_V(v)
#define ALLTOALL_W(v)                                                                                                  \
	a->out, a->v.sc, a->v.sd, a->sts, a->in, a->same_counts ? a->v.sc : a->v.rc, a->v.rd,                          \
		a->same_counts ? a->sts : a->rts
#define NEIGHBOR_W(v) a->out, a->v.sc, a->v.sb, a->sts, a->in, a->v.rc, a->v.rb, a->rts
#define BCASTED(v) RECEIVED(v), a->root
#define SUM(v) a->out, RECEIVED(v), a->op
#define SUM_ROOT(v) SUM(v), a->root
#define SUM_V(v) a->out, a->in, a->v.rc, a->rt, a->op

static inline int call(enum kind kind, int form, const struct args *a)
{
	switch (kind) {
	case BCAST:
		CALL(Bcast, Ibcast, BCASTED)
	case GATHER:
		CALL(Gather, Igather, BLOCKS_ROOT)
	case GATHERV:
		CALL(Gatherv, Igatherv, GATHER_V_ROOT)
	case SCATTER:
		CALL(Scatter, Iscatter, BLOCKS_ROOT)
	case SCATTERV:
		CALL(Scatterv, Iscatterv, SCATTER_V_ROOT)
	case ALLGATHER:
		CALL(Allgather, Iallgather, BLOCKS)
	case ALLGATHERV:
		CALL(Allgatherv, Iallgatherv, GATHER_V)
	case ALLTOALL:
		CALL(Alltoall, Ialltoall, BLOCKS)
	case ALLTOALLV:
		CALL(Alltoallv, Ialltoallv, ALLTOALL_V)
	case ALLTOALLW:
		CALL(Alltoallw, Ialltoallw, ALLTOALL_W)
	case REDUCE:
		CALL(Reduce, Ireduce, SUM_ROOT)
	case ALLREDUCE:
		CALL(Allreduce, Iallreduce, SUM)
	case REDUCE_SCATTER_BLOCK:
		CALL(Reduce_scatter_block, Ireduce_scatter_block, SUM)
	case REDUCE_SCATTER:
		CALL(Reduce_scatter, Ireduce_scatter, SUM_V)
	case SCAN:
		CALL(Scan, Iscan, SUM)
	case EXSCAN:
		CALL(Exscan, Iexscan, SUM)
	case NEIGHBOR_ALLGATHER:
		CALL(Neighbor_allgather, Ineighbor_allgather, BLOCKS)
	case NEIGHBOR_ALLGATHERV:
		CALL(Neighbor_allgatherv, Ineighbor_allgatherv, GATHER_V)
	case NEIGHBOR_ALLTOALL:
		CALL(Neighbor_alltoall, Ineighbor_alltoall, BLOCKS)
	case NEIGHBOR_ALLTOALLV:
		CALL(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALL_V)
	default:
		CALL(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_W)
	}
}

#endif
