/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of reductions. See coll.h. */
#include "coll.h"
#include "trace.h"

static void numbers(struct coll *c, struct coll_part *part, int count)
{
	int number = c->shape.number;
	part->buffer = buffer_make(0, (MPI_Aint)count * coll_number_extent(number));
	part->at = part->buffer.at;
}

/* How many numbers each rank of a side gets. In both groups of an intercommunicator the sum is the same. */
static int share(const struct coll *c, int i, int n)
{
	int each = c->shape.count, other = c->comm->inter ? c->comm->side[!c->side].n : 1;
	struct draw d = draw_from(c->seed, 40 + i / 2);
	int moved = draw_below(&d, each + 1);
	if (c->shape.kind == COLL_REDUCE_SCATTER_BLOCK || (i == n - 1 && i % 2 == 0))
		return each * other;
	return each * other + (i % 2 ? -moved : moved); /* of two neighbours one gives to the other */
}

void coll_reduce_arguments(struct coll *c, struct draw *d)
{
	enum coll_kind kind = c->shape.kind;
	int n = c->comm->side[c->side].n, total = 0;
	bool scatters = kind == COLL_REDUCE_SCATTER || kind == COLL_REDUCE_SCATTER_BLOCK;
	bool in_place = c->shape.in_place && !c->comm->inter && (kind != COLL_REDUCE || c->at_root);
	(void)d;
	c->in.count = c->shape.count;
	if (scatters) {
		for (int i = 0; i < n; i++) {
			c->in.counts[i] = share(c, i, n);
			c->in.counts_c[i] = c->in.counts[i];
			total += c->in.counts[i];
		}
		c->in.count = c->in.counts[c->me];
	}
	c->in.type = coll_number_type(c->shape.number, &c->in.own);
	c->op = coll_number_op(c->shape.number, c->shape.large, &c->own_op);
	numbers(c, &c->out, scatters ? total : c->shape.count);
	numbers(c, &c->in, scatters && in_place ? total : c->in.count);
	if (scatters)
		c->result = (size_t)c->in.count * coll_number_extent(c->shape.number) + 1;
	c->untraced = (kind == COLL_EXSCAN && c->me == 0) || (kind == COLL_REDUCE && !c->at_root);
	if (in_place)
		c->out.at = MPI_IN_PLACE;
}
