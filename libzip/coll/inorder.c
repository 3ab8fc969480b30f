/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions that need all contributions at one rank. */
#include "libzip/coll/inorder.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/gather.h"
#include "libzip/shim/shim.h"
#include "libzip/type/redop.h"

bool zinorder_is_needed(const struct zcomm *group, MPI_Op op)
{
	return !group->blocked && !zredop_commutes(op);
}

/* Makes a datatype of count elements whose extent keeps the vectors apart. */
static int make_slot(struct zsched *s, MPI_Count count, MPI_Datatype type, struct zinorder *g)
{
	MPI_Datatype vector;
	if (zn.Type_contiguous_c(count, type, &vector) != MPI_SUCCESS)
		return MPI_ERR_TYPE;
	int rc = zn.Type_create_resized(vector, 0, g->pitch, &g->slot);
	zn.Type_free(&vector);
	if (rc == MPI_SUCCESS && (rc = zn.Type_commit(&g->slot)) != MPI_SUCCESS)
		zn.Type_free(&g->slot);
	g->slot_count = 1;
	return rc == MPI_SUCCESS ? zsched_own_type(s, g->slot) : MPI_ERR_TYPE;
}

int zinorder_gather(struct zsched *s, const void *sendbuf, MPI_Count count, MPI_Datatype type, int root,
	struct zinorder *g)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	*g = (struct zinorder){.pitch = zbuf_pitch(count, type), .slot_count = count, .slot = type};
	if (c->rank == root && count > 0 && zbuf_interleaves(type))
		rc = make_slot(s, count, type, g);
	if (c->rank == root && rc == MPI_SUCCESS)
		rc = zbuf_temp(s, g->slot_count * c->size, g->slot, &g->buf);
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcoll a = {.sendbuf = sendbuf,
		.sendcount = count,
		.sendtype = type,
		.recvbuf = g->buf,
		.recvcount = g->slot_count,
		.recvtype = g->slot,
		.root = root};
	return zgather_build(s, &a);
}

int zinorder_fold(struct zsched *s, const struct zinorder *g, void *result, MPI_Count count, MPI_Datatype type,
	MPI_Op op)
{
	struct zcomm *c = zsched_comm(s);
	void **inputs = zfold_add(s, c->size, result, count, type, op);
	for (int r = 0; inputs && r < c->size; r++)
		inputs[r] = zinorder_at(g, r);
	zsched_round(s);
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int zinorder_reduce(struct zsched *s, const struct zcoll *a, int root)
{
	const void *sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	struct zinorder all;
	int rc = zinorder_gather(s, sendbuf, a->recvcount, a->recvtype, root, &all);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zinorder_fold(s, &all, a->recvbuf, a->recvcount, a->recvtype, a->op);
	return rc;
}

int zinorder_collect(struct zsched *s, const struct zcoll *a, MPI_Count count, void **mine)
{
	struct zinorder all;
	*mine = NULL;
	zsched_across(s, false);
	int rc = zinorder_gather(s, a->sendbuf, count, a->recvtype, 0, &all);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zbuf_temp(s, count, a->recvtype, mine);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zinorder_fold(s, &all, *mine, count, a->recvtype, a->op);
	zsched_round(s);
	zsched_across(s, true);
	return rc;
}
