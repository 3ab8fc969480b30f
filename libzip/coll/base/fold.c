/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of several parts or ranks in their order. */
#include "libzip/coll/base/fold.h"

#include "libzip/coll/base/buf.h"
#include "libzip/schedule/step.h"
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

/* Computes ((0 op 1) op 2) ...; the right operand's place takes each value. If the operands can change places, the
 * value stays in the result, which saves a copy. */
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
