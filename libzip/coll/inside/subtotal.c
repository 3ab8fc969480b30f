/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction inside a part. */
#include "libzip/coll/inside/subtotal.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/type/redop.h"

/* The answer must not depend on whether there is a board, see ordered.h. */
static bool is_gathered(const struct zcomm *c, const struct ztuning_settings *tune, MPI_Count longest,
	MPI_Datatype type)
{
	if (tune->inside == ZTUNING_INSIDE_AUTO)
		return zshared_could_fit(c, longest, type);
	return tune->inside == ZTUNING_INSIDE_GATHER;
}

int zsubtotal_init(struct zsubtotal *in, struct zsched *s, const struct ztuning_settings *tune, MPI_Count longest,
	MPI_Datatype type, MPI_Op op, int root)
{
	struct zcomm *c = zsched_comm(s);
	*in = (struct zsubtotal){.type = type, .op = op, .root = root};
	/* With a predefined operation the order does not matter, and inputs are not written to. */
	in->gathers = zredop_is_predefined(op) && zredop_commutes(op) && is_gathered(c, tune, longest, type);
	if (!in->gathers)
		return MPI_SUCCESS;
	in->shared = zshared_fits(c, longest, type) && zredop_exchanges(op, type) && zbuf_is_contiguous(type);
	if (!in->shared && zcomm_shadow_rank(c, c->rank) == root &&
		zbuf_temp(s, longest * c->nlocal, type, &in->members) != MPI_SUCCESS)
		return MPI_ERR_NO_MEM;
	/* An empty native reduction finds out whether the operation fits the datatype, with the right error. */
	static char nothing[2];
	return zinside_reduce(s, &nothing[0], &nothing[1], 0, type, op, root);
}

/* The place of the vector that is combined last: zsubtotal_finish adds up the others into it. */
void *zsubtotal_place(const struct zsubtotal *in, const struct zsched *s, MPI_Count count)
{
	int last = zsched_comm(s)->nlocal - 1;
	if (!in->members || last == 0)
		return NULL;
	return zbuf_at(in->members, (last == in->root ? last - 1 : last) * count, zbuf_extent(in->type));
}

int zsubtotal_start(const struct zsubtotal *in, struct zsched *s, const void *own, void *result, MPI_Count count)
{
	struct zcomm *c = zsched_comm(s);
	if (!in->gathers)
		return zinside_reduce(s, own, result, count, in->type, in->op, in->root);
	if (in->shared)
		return zshared_reduce(s, own, result, count, in->type, in->op, in->root);
	if (c->nlocal == 1)
		return MPI_SUCCESS;
	return zinside_gather(s, in->members ? MPI_IN_PLACE : own, count, in->type, in->members, count, in->type,
		in->root);
}

int zsubtotal_finish(const struct zsubtotal *in, struct zsched *s, const void *own, void *result, MPI_Count count)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Aint extent = zbuf_extent(in->type);
	int n = 1;
	if (!in->gathers || in->shared)
		return MPI_SUCCESS;
	void **inputs = zfold_add(s, c->nlocal, result, count, in->type, in->op);
	if (!inputs)
		return MPI_ERR_NO_MEM;
	/* My own vector is first: it is only read, unless it is the result. */
	inputs[0] = own == MPI_IN_PLACE ? result : (void *)own;
	for (int i = 0; i < c->nlocal; i++) {
		if (i != in->root)
			inputs[n++] = zbuf_at(in->members, i * count, extent);
	}
	return MPI_SUCCESS;
}
