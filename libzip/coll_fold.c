/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of several parts or ranks in their order. */
#include "coll_data.h"
#include "coll_fold.h"

struct zfold *zfold_create(struct zsched *s, int nparts, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	struct zcomm *c = zsched_comm(s);
	struct zfold *f = zsched_alloc(s, sizeof *f);
	if (!f)
		return NULL;
	*f = (struct zfold){.count = count, .type = type, .op = op, .n = nparts, .result = result};
	f->inputs = zsched_alloc(s, (size_t)nparts * sizeof *f->inputs);
	if (!f->inputs)
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
	bool exchange = zbuf_op_exchanges(f->op, f->type);
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

int zbuild_gather_all(struct zsched *s, const void *sendbuf, MPI_Count count, MPI_Datatype type, int root, void **all)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	*all = NULL;
	if (c->rank == root)
		rc = zbuf_temp(s, count * c->size, type, all);
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcoll a = {.sendbuf = sendbuf,
		.sendcount = count,
		.sendtype = type,
		.recvbuf = *all,
		.recvcount = count,
		.recvtype = type,
		.root = root};
	return zbuild_gather(s, &a);
}

int zbuild_fold_all(struct zsched *s, void *all, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	struct zcomm *c = zsched_comm(s);
	struct zfold *f = zsched_alloc(s, sizeof *f);
	if (!f)
		return MPI_ERR_NO_MEM;
	*f = (struct zfold){.count = count, .type = type, .op = op, .n = c->size, .result = result};
	f->inputs = zsched_alloc(s, (size_t)c->size * sizeof *f->inputs);
	if (!f->inputs)
		return MPI_ERR_NO_MEM;
	for (int r = 0; r < c->size; r++)
		f->inputs[r] = zbuf_at(all, r * count, zbuf_extent(type));
	int rc = zsched_call(s, zfold_call, f);
	zsched_round(s);
	return rc;
}
