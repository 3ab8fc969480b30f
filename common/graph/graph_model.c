/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of zipmap.graph(5), "The model of collectives". */
#include "common/graph/graph_model.h"

struct place {
	int rank, size, root;
	int relative; /* rank relative to the root, modulo size */
	zgraph_model_emit *emit;
	void *ctx;
};

static int rank_of(const struct place *p, int relative)
{
	int rank = relative + p->root % p->size;

	return rank < p->size ? rank : rank - p->size;
}

/* The number of ranks in the subtree of relative rank v, with v itself: the ranks that differ from v only below its
 * lowest bit. */
static int subtree(const struct place *p, int v)
{
	int lowest = v & -v;

	return v == 0 || p->size - v < lowest ? p->size - v : lowest;
}

/* Emits a message to each child: the blocks of the child's subtree (scatter), or one block (bcast). */
static void to_children(const struct place *p, int whole)
{
	int v = p->relative;

	for (unsigned bit = 1; bit < (unsigned)(p->size - v) && (v == 0 || bit < (unsigned)(v & -v)); bit <<= 1) {
		int child = v + (int)bit;
		p->emit(p->ctx, rank_of(p, child), whole ? 1 : (uint64_t)subtree(p, child), 1);
	}
}

static void to_parent(const struct place *p, int whole)
{
	int v = p->relative;

	if (v != 0)
		p->emit(p->ctx, rank_of(p, v & (v - 1)), whole ? 1 : (uint64_t)subtree(p, v), 1);
}

static void to_all(const struct place *p)
{
	for (int i = 1; i < p->size; i++)
		p->emit(p->ctx, (int)(((unsigned)p->rank + (unsigned)i) % (unsigned)p->size), 1, 1);
}

static void dissemination(const struct place *p)
{
	for (unsigned step = 1; step < (unsigned)p->size; step <<= 1)
		p->emit(p->ctx, (int)(((unsigned)p->rank + step) % (unsigned)p->size), 0, 1);
}

void zgraph_model(enum zgraph_kind kind, int rank, int size, int root, zgraph_model_emit *emit, void *ctx)
{
	struct place p = {.rank = rank, .size = size, .root = root, .emit = emit, .ctx = ctx};

	if (kind == ZGRAPH_ALLREDUCE)
		p.root = 0;
	p.relative = rank >= p.root ? rank - p.root : rank - p.root + size;
	if (size < 2)
		return;
	switch (kind) {
	case ZGRAPH_BARRIER:
		dissemination(&p);
		break;
	case ZGRAPH_BCAST:
		to_children(&p, 1);
		break;
	case ZGRAPH_SCATTER:
		to_children(&p, 0);
		break;
	case ZGRAPH_REDUCE:
		to_parent(&p, 1);
		break;
	case ZGRAPH_GATHER:
		to_parent(&p, 0);
		break;
	case ZGRAPH_ALLREDUCE:
		to_parent(&p, 1);
		to_children(&p, 1);
		break;
	case ZGRAPH_GATHERV:
		if (rank != root)
			emit(ctx, root, 1, 1);
		break;
	case ZGRAPH_ALLGATHER:
		emit(ctx, (rank + 1) % size, (uint64_t)size - 1, (uint64_t)size - 1);
		break;
	case ZGRAPH_ALLGATHERV:
		emit(ctx, (rank + 1) % size, 1, (uint64_t)size - 1);
		break;
	case ZGRAPH_ALLTOALL:
	case ZGRAPH_REDUCE_SCATTER_BLOCK:
		to_all(&p);
		break;
	case ZGRAPH_SCAN:
	case ZGRAPH_EXSCAN:
		if (rank + 1 < size)
			emit(ctx, rank + 1, 1, 1);
		break;
	default:
		break;
	}
}
