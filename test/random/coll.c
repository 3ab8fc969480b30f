/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the arguments of a collective call. See coll.h. */
#include "coll.h"

#include <stdlib.h>
#include <string.h>

#include "trace.h"

static const char *const names[COLL_KINDS] = {"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv",
	"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter",
	"reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
	"neighbor_alltoallv", "neighbor_alltoallw"};

const char *coll_name(enum coll_kind kind)
{
	return names[kind];
}

/* --- what all ranks agree on */
struct coll_shape coll_shape(const struct model_comm *c, uint64_t seed)
{
	struct draw d = draw_from(seed, 11);
	int size = draw_below(&d, 100), most = size < 75 ? 64 : size < 95 ? 2000 : 20000;
	struct coll_shape s = {.kind = draw_below(&d, COLL_NEIGHBOR_ALLGATHER)};
	if (c->topology != PLAIN && !c->unordered && draw_chance(&d, 70))
		s.kind = draw_between(&d, COLL_NEIGHBOR_ALLGATHER, COLL_KINDS - 1);
	if (c->inter && (s.kind == COLL_SCAN || s.kind == COLL_EXSCAN))
		s.kind = COLL_ALLREDUCE;
	s.form = draw_below(&d, 3);
	s.large = draw_chance(&d, 40);
	s.in_place = draw_chance(&d, 30) && s.kind < COLL_NEIGHBOR_ALLGATHER;
	s.root_side = c->inter ? draw_below(&d, 2) : 0;
	s.root = draw_below(&d, c->side[s.root_side].n);
	s.unit = types_unit(&d, most);
	s.rounds = s.form == COLL_PERSISTENT ? draw_between(&d, 1, 3) : 1;
	s.units = draw_chance(&d, 8) ? 0 : draw_between(&d, 1, 4);
	types_unit_limit(&s.unit, s.units * (c->side[0].n + c->side[1].n));
	s.number = coll_number(&d);
	if (s.kind == COLL_REDUCE_SCATTER ||
		s.kind == COLL_REDUCE_SCATTER_BLOCK) /* MPICH 4.0.2 reads behind its buffer */
		s.number = coll_number_without_gaps(s.number);
	s.count = size < 10 ? 0 : size < 75 ? draw_between(&d, 1, 8) : size < 95 ? draw_between(&d, 9, 300) : 3000;
	return s;
}

/* The units of a block: one number for all, or its own one where counts may differ. from and to are ranks, -1: any. */
static int units(const struct coll *c, int from_side, int from, int to)
{
	bool varies = c->shape.kind == COLL_GATHERV || c->shape.kind == COLL_SCATTERV ||
		      c->shape.kind == COLL_ALLGATHERV || c->shape.kind == COLL_ALLTOALLV ||
		      c->shape.kind == COLL_ALLTOALLW || c->shape.kind == COLL_NEIGHBOR_ALLGATHERV ||
		      c->shape.kind >= COLL_NEIGHBOR_ALLTOALLV;
	struct draw d;
	if (!varies)
		return c->shape.units;
	if (c->shape.in_place && from > to && to >= 0 && !c->comm->inter) {
		int kept = from; /* in place both directions are alike */
		from = to;
		to = kept;
	}
	d = draw_from(c->seed, 5000 + from_side * 2000 + (from + 1) * 40 + to + 1);
	return draw_below(&d, c->shape.units + 1);
}

/* --- how this rank lays it out */
static void lay_one(struct coll *c, struct coll_part *part, int n, struct draw *d)
{
	part->type = types_pieces(d, &c->shape.unit, n, &part->count);
	part->own = true;
	part->buffer = buffer_for(part->type, part->count, draw_next(d));
	part->at = part->buffer.at;
}

static void lay_equal(struct coll *c, struct coll_part *part, int blocks, struct draw *d)
{
	part->type = types_pieces(d, &c->shape.unit, c->shape.units, &part->count);
	part->own = true;
	part->buffer = buffer_for(part->type, (MPI_Aint)part->count * blocks, draw_next(d));
	part->at = part->buffer.at;
}

/* Blocks of one type at displacements in its extent, in any order. */
static void lay_many(struct coll *c, struct coll_part *part, int blocks, const int n[], struct draw *d)
{
	int order[MOST_RANKS], at = draw_below(d, 3), each = 1;
	MPI_Aint lb, extent;
	for (int i = 0; i < blocks; i++)
		order[i] = i;
	if (draw_chance(d, 40))
		draw_shuffle(d, order, blocks);
	part->own = true;
	if (c->shape.unit.n == 1 && draw_chance(d, 40)) {
		part->type = c->shape.unit.basic[0];
		each = c->shape.unit.count[0];
	} else {
		part->type = types_layout(d, &c->shape.unit, 1);
	}
	for (int i = 0; i < blocks; i++) {
		int b = order[i];
		part->counts[b] = n[b] * each;
		part->displs[b] = at;
		at += part->counts[b] + draw_below(d, 3);
		part->counts_c[b] = part->counts[b];
		part->displs_c[b] = part->displs[b];
	}
	TRY(MPI_Type_get_extent(part->type, &lb, &extent));
	part->buffer = buffer_spanning(part->type, at);
	for (int i = 0; i < blocks; i++)
		buffer_mark(&part->buffer, part->displs[i] * extent, part->type, part->counts[i]);
	part->at = part->buffer.at;
}

/* Blocks of a type each, at displacements in bytes. */
static void lay_all(struct coll *c, struct coll_part *part, int blocks, const int n[], struct draw *d)
{
	MPI_Aint at = 0, low, span, lb, extent;
	for (int i = 0; i < blocks; i++) {
		part->types[i] = types_pieces(d, &c->shape.unit, n[i], &part->counts[i]);
		TRY(MPI_Type_get_true_extent(part->types[i], &low, &span));
		TRY(MPI_Type_get_extent(part->types[i], &lb, &extent));
		part->counts_c[i] = part->counts[i];
		part->displs[i] = (int)(at - (low / 16 - 1) * 16);
		part->displs_c[i] = part->displs[i];
		at += ((span + extent * part->counts[i]) / 16 + 3 + draw_below(d, 2)) * 16;
	}
	part->ntypes = blocks;
	part->buffer = buffer_make(0, at);
	for (int i = 0; i < blocks; i++)
		buffer_mark(&part->buffer, part->displs_c[i], part->types[i], part->counts[i]);
	part->at = part->buffer.at;
}

static void lay_blocks(struct coll *c, struct coll_part *part, int blocks, const int n[], struct draw *d)
{
	switch (c->shape.kind) {
	case COLL_GATHERV:
	case COLL_SCATTERV:
	case COLL_ALLGATHERV:
	case COLL_ALLTOALLV:
	case COLL_NEIGHBOR_ALLGATHERV:
	case COLL_NEIGHBOR_ALLTOALLV:
		lay_many(c, part, blocks, n, d);
		break;
	case COLL_ALLTOALLW:
	case COLL_NEIGHBOR_ALLTOALLW:
		lay_all(c, part, blocks, n, d);
		break;
	default:
		lay_equal(c, part, blocks, d);
	}
}

/* What is not significant at this rank may be anything. */
static void lay_nothing(struct coll_part *part, struct draw *d)
{
	memset(part, 0, sizeof *part);
	part->count = draw_chance(d, 50) ? -1 : 0;
	part->type = draw_chance(d, 50) ? MPI_DATATYPE_NULL : MPI_INT;
}

static void rooted_arguments(struct coll *c, struct draw *d)
{
	enum coll_kind kind = c->shape.kind;
	bool gathers = kind == COLL_GATHER || kind == COLL_GATHERV, inter = c->comm->inter;
	bool leaf = !inter || c->side != c->shape.root_side;
	int n[MOST_RANKS], blocks = model_peers(c->comm)->n;
	struct coll_part *one = gathers ? &c->out : &c->in, *many = gathers ? &c->in : &c->out;
	for (int i = 0; i < blocks; i++)
		n[i] = gathers ? units(c, c->shape.root_side, i, -1) : units(c, c->shape.root_side, -1, i);
	if (leaf)
		lay_one(c, one,
			gathers ? units(c, c->shape.root_side, c->me, -1) : units(c, c->shape.root_side, -1, c->me), d);
	else
		lay_nothing(one, d);
	if (c->at_root)
		lay_blocks(c, many, blocks, n, d);
	else
		lay_nothing(many, d);
	if (c->at_root && !inter && c->shape.in_place)
		one->at = MPI_IN_PLACE;
}

static void symmetric_arguments(struct coll *c, struct draw *d)
{
	enum coll_kind kind = c->shape.kind;
	bool all = kind >= COLL_ALLTOALL;
	int n[MOST_RANKS], blocks = model_peers(c->comm)->n, from_side = c->comm->inter ? !c->side : 0;
	if (all) {
		for (int i = 0; i < blocks; i++)
			n[i] = units(c, c->side, c->me, i);
		lay_blocks(c, &c->out, blocks, n, d);
	} else {
		lay_one(c, &c->out, units(c, c->side, c->me, -1), d);
	}
	for (int i = 0; i < blocks; i++)
		n[i] = units(c, from_side, i, all ? c->me : -1);
	lay_blocks(c, &c->in, blocks, n, d);
	if (c->shape.in_place && !c->comm->inter)
		c->out.at = MPI_IN_PLACE;
}

static void neighbor_arguments(struct coll *c, struct draw *d)
{
	const struct neighbors *from = &c->comm->from[c->me], *to = &c->comm->to[c->me];
	bool all = c->shape.kind >= COLL_NEIGHBOR_ALLTOALL;
	int n[MOST_RANKS];
	if (all) {
		for (int i = 0; i < to->n; i++)
			n[i] = units(c, 0, c->me, to->at[i] < 0 ? -1 : to->at[i]);
		lay_blocks(c, &c->out, to->n, n, d);
	} else {
		lay_one(c, &c->out, units(c, 0, c->me, -1), d);
	}
	for (int i = 0; i < from->n; i++)
		n[i] = units(c, 0, from->at[i] < 0 ? -1 : from->at[i], all ? c->me : -1);
	lay_blocks(c, &c->in, from->n, n, d);
}

/*
 * MPICH 4.0.2 does some forms wrong: nonblocking ones between groups; ialltoallw in place; persistent ones, of which it
 * frees derived types too often and reports errors where there are none. Blocking ones give the same results.
 */
static enum coll_form form_of(const struct model_comm *c, const struct coll_shape *s)
{
	if (!model_is_native(c) || s->form == COLL_BLOCKING)
		return s->form;
	if (s->form == COLL_PERSISTENT || c->inter || s->kind == COLL_NEIGHBOR_ALLTOALLW ||
		(s->kind == COLL_ALLTOALLW && s->in_place))
		return COLL_BLOCKING;
	return s->form;
}

struct coll *coll_new(const struct model_comm *comm, uint64_t seed)
{
	struct coll *c = calloc(1, sizeof *c);
	struct draw d = draw_from(seed, 7000 + model.me);
	c->comm = comm;
	c->seed = seed;
	c->shape = coll_shape(comm, seed);
	c->form = form_of(comm, &c->shape);
	c->me = model_rank(comm);
	c->side = model_side(comm);
	c->at_root = c->side == c->shape.root_side && c->me == c->shape.root;
	c->root = !comm->inter || c->side != c->shape.root_side ? c->shape.root : c->at_root ? MPI_ROOT : MPI_PROC_NULL;
	c->in.type = c->out.type = MPI_DATATYPE_NULL;
	if (c->shape.kind == COLL_BCAST)
		lay_one(c, &c->in, c->shape.units, &d);
	else if (c->shape.kind >= COLL_GATHER && c->shape.kind <= COLL_SCATTERV)
		rooted_arguments(c, &d);
	else if (c->shape.kind >= COLL_ALLGATHER && c->shape.kind <= COLL_ALLTOALLW)
		symmetric_arguments(c, &d);
	else if (c->shape.kind >= COLL_REDUCE && c->shape.kind <= COLL_EXSCAN)
		coll_reduce_arguments(c, &d);
	else if (c->shape.kind >= COLL_NEIGHBOR_ALLGATHER)
		neighbor_arguments(c, &d);
	coll_refill(c, 0);
	return c;
}

/* --- contents */
void coll_refill(struct coll *c, uint64_t round)
{
	uint64_t seed = c->seed + 31 * round + 1000003u * (uint64_t)(model.me + 1);
	struct coll_part *parts[] = {&c->out, &c->in};
	for (int i = 0; i < 2; i++) {
		struct buffer *b = &parts[i]->buffer;
		if (!b->base)
			continue;
		buffer_fill(b, seed + i);
		if (c->shape.kind >= COLL_REDUCE && c->shape.kind <= COLL_EXSCAN) {
			int bytes = (int)b->len - 2 * BUFFER_MARGIN;
			coll_number_fill(c->shape.number, b->at, bytes / coll_number_extent(c->shape.number), seed + i);
		}
	}
}

void coll_trace(struct coll *c)
{
	if (c->out.buffer.base)
		buffer_trace(&c->out.buffer, "sent");
	if (c->untraced || !c->in.buffer.base)
		return;
	if (c->result)
		trace_bytes(c->in.buffer.at, c->result - 1, "result");
	else
		buffer_trace(&c->in.buffer, "received");
}

void coll_free_handles(struct coll *c)
{
	struct coll_part *parts[] = {&c->out, &c->in};
	for (int i = 0; i < 2; i++) {
		if (parts[i]->own)
			types_free(&parts[i]->type);
		parts[i]->own = false;
		for (int k = 0; k < parts[i]->ntypes; k++)
			types_free(&parts[i]->types[k]);
		parts[i]->ntypes = 0;
	}
	if (c->own_op)
		TRY(MPI_Op_free(&c->op));
	c->own_op = false;
}

void coll_end(struct coll *c)
{
	coll_free_handles(c);
	if (c->out.buffer.base)
		buffer_free(&c->out.buffer);
	if (c->in.buffer.base)
		buffer_free(&c->in.buffer);
	free(c);
}
