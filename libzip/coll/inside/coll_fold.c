/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of several parts or ranks in their order. */
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/shim/shim.h"
#include "libzip/type/redop.h"

static struct zfold *make(struct zsched *s, int n, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	struct zfold *f = zsched_alloc(s, sizeof *f);
	if (!f)
		return NULL;
	*f = (struct zfold){.count = count, .type = type, .op = op, .n = n, .result = result};
	f->inputs = zsched_alloc(s, (size_t)n * sizeof *f->inputs);
	return f->inputs ? f : NULL;
}

struct zfold *zfold_create(struct zsched *s, int nparts, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	struct zcomm *c = zsched_comm(s);
	struct zfold *f = make(s, nparts, result, count, type, op);
	if (!f)
		return NULL;
	for (int p = 0; p < nparts; p++) {
		f->inputs[p] = result;
		if (p != c->my_part && zbuf_temp(s, count, type, &f->inputs[p]) != MPI_SUCCESS)
			return NULL;
	}
	return f;
}

/* ((0 op 1) op 2) ...: the right operand's place takes the value. Where operands can be exchanged that saves a copy. */
int zfold_call(struct zsched *s, void *arg)
{
	struct zfold *f = arg;
	bool exchange = zredop_exchanges(f->op, f->type);
	void *sum = f->inputs[0];
	int rc = MPI_SUCCESS;
	if (zsched_failed(s) || f->count == 0)
		return MPI_SUCCESS;
	for (int i = 1; i < f->n && rc == MPI_SUCCESS; i++) {
		if (sum == f->result && exchange) {
			rc = zbuf_reduce(f->inputs[i], sum, f->count, f->type, f->op);
		} else {
			rc = zbuf_reduce(sum, f->inputs[i], f->count, f->type, f->op);
			sum = f->inputs[i];
		}
	}
	if (rc == MPI_SUCCESS && sum != f->result)
		rc = zbuf_copy(s, sum, f->count, f->type, f->result, f->count, f->type);
	return rc;
}

void **zfold_add(struct zsched *s, int n, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	struct zfold *f = make(s, n, result, count, type, op);
	return f && zstep_call(s, zfold_call, f) == MPI_SUCCESS ? f->inputs : NULL;
}

/* As many elements as datatype, of an extent that keeps them apart. */
static int make_slot(struct zsched *s, MPI_Count count, MPI_Datatype type, struct zgathered *g)
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

int zbuild_gather_all(struct zsched *s, const void *sendbuf, MPI_Count count, MPI_Datatype type, int root,
	struct zgathered *g)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	*g = (struct zgathered){.pitch = zbuf_pitch(count, type), .slot_count = count, .slot = type};
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
	return zbuild_gather(s, &a);
}

int zbuild_fold_all(struct zsched *s, const struct zgathered *g, void *result, MPI_Count count, MPI_Datatype type,
	MPI_Op op)
{
	struct zcomm *c = zsched_comm(s);
	void **inputs = zfold_add(s, c->size, result, count, type, op);
	for (int r = 0; inputs && r < c->size; r++)
		inputs[r] = zgathered_at(g, r);
	zsched_round(s);
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
