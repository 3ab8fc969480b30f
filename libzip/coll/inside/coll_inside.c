/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction inside a part, see coll_inside.h. */
#include "libzip/coll/inside/coll_inside.h"

#include "libzip/coll/inside/coll_board.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/type/redop.h"

/* Not by whether there is a board: which communicators have one depends on when others are freed, see coll_ordered.h.
 */
static bool is_gathered(const struct zcomm *c, const struct ztuning_settings *tune, MPI_Count longest,
	MPI_Datatype type)
{
	if (tune->inside == ZTUNING_INSIDE_AUTO)
		return zshared_could_fit(c, longest, type);
	return tune->inside == ZTUNING_INSIDE_GATHER;
}

int zinside_init(struct zinside *in, struct zsched *s, const struct ztuning_settings *tune, MPI_Count longest,
	MPI_Datatype type, MPI_Op op, int root)
{
	struct zcomm *c = zsched_comm(s);
	*in = (struct zinside){.type = type, .op = op, .root = root};
	/* Predefined: the order does not matter, and an input is not written to. */
	in->gathers = zredop_is_predefined(op) && zredop_commutes(op) && is_gathered(c, tune, longest, type);
	if (!in->gathers)
		return MPI_SUCCESS;
	in->shared = zshared_fits(c, longest, type) && zredop_exchanges(op, type) && zbuf_is_contiguous(type);
	if (!in->shared && c->shadow_rank[c->rank] == root &&
		zbuf_temp(s, longest * c->nlocal, type, &in->members) != MPI_SUCCESS)
		return MPI_ERR_NO_MEM;
	/* An empty native reduction finds out whether operation and datatype go together, with the
	 * right error. */
	static char nothing[2];
	return znative_reduce(s, &nothing[0], &nothing[1], 0, type, op, root);
}

/* The last one to be combined: finish adds the others up into it. */
void *zinside_place(const struct zinside *in, const struct zsched *s, MPI_Count count)
{
	int last = zsched_comm(s)->nlocal - 1;
	if (!in->members || last == 0)
		return NULL;
	return zbuf_at(in->members, (last == in->root ? last - 1 : last) * count, zbuf_extent(in->type));
}

int zinside_start(const struct zinside *in, struct zsched *s, const void *own, void *result, MPI_Count count)
{
	struct zcomm *c = zsched_comm(s);
	if (!in->gathers)
		return znative_reduce(s, own, result, count, in->type, in->op, in->root);
	if (in->shared)
		return zshared_reduce(s, own, result, count, in->type, in->op, in->root);
	if (c->nlocal == 1)
		return MPI_SUCCESS;
	return znative_gather(s, in->members ? MPI_IN_PLACE : own, count, in->type, in->members, count, in->type,
		in->root);
}

int zinside_finish(const struct zinside *in, struct zsched *s, const void *own, void *result, MPI_Count count)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Aint extent = zbuf_extent(in->type);
	int n = 1;
	if (!in->gathers || in->shared)
		return MPI_SUCCESS;
	void **inputs = zfold_add(s, c->nlocal, result, count, in->type, in->op);
	if (!inputs)
		return MPI_ERR_NO_MEM;
	/* Mine first: it is only read, unless it is the result. */
	inputs[0] = own == MPI_IN_PLACE ? result : (void *)own;
	for (int i = 0; i < c->nlocal; i++) {
		if (i != in->root)
			inputs[n++] = zbuf_at(in->members, i * count, extent);
	}
	return MPI_SUCCESS;
}
