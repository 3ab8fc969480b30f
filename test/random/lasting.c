/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned messages: made by one operation, and started by later ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topics.h"
#include "trace.h"
#include "types.h"

#define MOST_PAIRS 8
#define LASTING_TAG 500 /* of persistent messages; partitioned ones have a tag for each operation */
enum kind { PERSISTENT, PARTITIONED };

struct pair {
	int side, from, to, parts, count; /* parts: partitions; count: elements of each */
	struct unit unit;
};
/* One request of this rank. */
struct end {
	MPI_Request request;
	MPI_Datatype type;
	struct buffer buffer;
	bool receives;
	int parts;
};
struct lasting {
	int n;
	struct end end[2 * MOST_PAIRS];
};

static struct pair pair_of(const struct op *op, int index)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct draw d = draw_from(op->seed, 10 + index);
	struct pair p = {.side = c->inter ? draw_below(&d, 2) : 0};
	p.from = draw_below(&d, c->side[p.side].n);
	p.to = draw_below(&d, c->side[c->inter ? !p.side : 0].n);
	p.unit = types_unit(&d, draw_chance(&d, 85) ? 200 : 20000);
	types_unit_limit(&p.unit, 8);
	p.parts = draw_between(&d, 1, 4);
	p.count = draw_between(&d, 1, 2);
	return p;
}

static int pairs(const struct op *op)
{
	struct draw d = draw_from(op->seed, 1);
	return draw_between(&d, 1, MOST_PAIRS);
}

static void make_persistent(const struct op *op, struct end *e, const struct pair *p, MPI_Comm comm)
{
	struct draw d = draw_from(op->seed, 100 + model.me);
	int count;
	e->type = types_pieces(&d, &p->unit, p->parts * p->count, &count);
	e->buffer = buffer_for(e->type, count, 0);
	if (e->receives) {
		TRY(MPI_Recv_init(e->buffer.at, count, e->type, p->from, LASTING_TAG, comm, &e->request));
		return;
	}
	switch (draw_below(&d, 3)) {
	case 0:
		TRY(MPI_Ssend_init(e->buffer.at, count, e->type, p->to, LASTING_TAG, comm, &e->request));
		break;
	case 1:
		TRY(MPI_Send_init_c(e->buffer.at, count, e->type, p->to, LASTING_TAG, comm, &e->request));
		break;
	default:
		TRY(MPI_Send_init(e->buffer.at, count, e->type, p->to, LASTING_TAG, comm, &e->request));
	}
}

/* The receiver may cut the message into other partitions: into one. */
static void make_partitioned(const struct op *op, struct end *e, const struct pair *p, int index, MPI_Comm comm)
{
	int tag = 20000 + op->number * MOST_PAIRS + index, elements = p->unit.count[0] * p->count;
	e->type = p->unit.basic[0];
	e->parts = e->receives && op->seed & 1 ? 1 : p->parts;
	elements = elements * p->parts / e->parts;
	e->buffer = buffer_for(e->type, (MPI_Aint)elements * e->parts, 0);
	if (e->receives)
		TRY(MPI_Precv_init(e->buffer.at, e->parts, elements, e->type, p->from, tag, comm, MPI_INFO_NULL,
			&e->request));
	else
		TRY(MPI_Psend_init(e->buffer.at, e->parts, elements, e->type, p->to, tag, comm, MPI_INFO_NULL,
			&e->request));
}

static void add_end(struct op *op, struct lasting *l, const struct pair *p, int index, bool receives)
{
	struct end *e = &l->end[l->n++];
	MPI_Comm comm = model.comm[op->comm].handle;
	memset(e, 0, sizeof *e);
	e->receives = receives;
	if (op->kind == PERSISTENT)
		make_persistent(op, e, p, comm);
	else
		make_partitioned(op, e, p, index, comm);
}

static void run_make(struct op *op)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct lasting *l = op->kept = calloc(1, sizeof *l);
	for (int i = 0; i < pairs(op); i++) {
		struct pair p = pair_of(op, i);
		if (c->side[c->inter ? !p.side : 0].at[p.to] == model.me)
			add_end(op, l, &p, i, true);
		if (c->side[p.side].at[p.from] == model.me)
			add_end(op, l, &p, i, false);
	}
}

static void end_make(struct op *op)
{
	struct lasting *l = op->kept;
	for (int i = 0; i < l->n; i++) {
		TRY(MPI_Request_free(&l->end[i].request));
		types_free(&l->end[i].type);
		buffer_free(&l->end[i].buffer);
	}
	free(l);
}

static bool draw_make(struct op *op, struct draw *d)
{
	char name[80];
	op->comm = model_pick(d, NULL);
	op->kind = draw_below(d, 2);
	if (op->kind == PARTITIONED && model.comm[op->comm].inter)
		op->kind = PERSISTENT;
	snprintf(op->text, sizeof op->text, "%d %s messages on %s", pairs(op),
		op->kind == PERSISTENT ? "persistent" : "partitioned", model_name(op->comm, name));
	return true;
}

const struct topic topic_lasting = {.name = "lasting",
	.weight = 5,
	.draw = draw_make,
	.run = run_make,
	.end = end_make};

/* --- starting them */
static void came(void *context, MPI_Status *status)
{
	struct end *e = context;
	(void)status; /* of a partitioned one it is empty in MPICH 4.0.2 */
	buffer_trace(&e->buffer, e->receives ? "came" : "sent");
}

static void ready(struct end *e, struct draw *d)
{
	int order[4];
	for (int i = 0; i < e->parts; i++)
		order[i] = i;
	draw_shuffle(d, order, e->parts);
	if (draw_chance(d, 30)) {
		TRY(MPI_Pready_range(0, e->parts - 1, e->request));
	} else if (draw_chance(d, 30)) {
		TRY(MPI_Pready_list(e->parts, order, e->request));
	} else {
		for (int i = 0; i < e->parts; i++)
			TRY(MPI_Pready(order[i], e->request));
	}
}

static void run_start(struct op *op)
{
	struct op *made = &plan.op[op->uses];
	struct lasting *l = made->kept;
	struct draw d = draw_from(op->seed, 300 + model.me);
	MPI_Request all[2 * MOST_PAIRS];
	struct waiting w = {.no_testall = model_is_native(&model.comm[op->comm])};
	for (int i = 0; i < l->n; i++) {
		buffer_fill(&l->end[i].buffer, op->seed + 1000 * i + model.me);
		all[i] = l->end[i].request;
	}
	if (draw_chance(&d, 50))
		TRY(MPI_Startall(l->n, all));
	else
		for (int i = 0; i < l->n; i++)
			TRY(MPI_Start(&all[i]));
	for (int i = 0; i < l->n; i++) {
		if (made->kind == PARTITIONED && !l->end[i].receives)
			ready(&l->end[i], &d);
		waiting_add(&w, all[i], came, &l->end[i]);
	}
	waiting_complete(&w, draw_next(&d));
}

static bool is_made(const struct op *op)
{
	return !model.comm[op->comm].gone;
}

static bool draw_start(struct op *op, struct draw *d)
{
	op->uses = plan_pick(d, &topic_lasting, is_made);
	if (op->uses < 0)
		return false;
	op->comm = plan.op[op->uses].comm;
	snprintf(op->text, sizeof op->text, "start those of operation %d", op->uses);
	return true;
}

const struct topic topic_start = {.name = "start", .weight = 8, .draw = draw_start, .run = run_start};
