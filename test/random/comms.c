/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes communicators out of others, and frees them. */
#include <stdio.h>
#include <string.h>

#include "comms.h"
#include "topics.h"
#include "trace.h"

enum kind {
	DUP,
	DUP_WITH_INFO,
	IDUP,
	SPLIT,
	CREATE,
	CREATE_GROUP,
	CART_MAKE,
	CART_SUB,
	GRAPH_MAKE,
	DIST_ADJACENT,
	DIST,
	INTER,
	MERGE,
	KINDS
};
static const char *const kinds[] = {"dup", "dup_with_info", "idup", "split", "create", "create_group", "cart_create",
	"cart_sub", "graph_create", "dist_graph_create_adjacent", "dist_graph_create", "intercomm_create",
	"intercomm_merge"};

/* --- what is made, in the model */
static void make_dup(struct op *op)
{
	struct model_comm *made = &model.comm[model_add(op->number)];
	*made = model.comm[op->comm];
	made->maker = op->number;
	made->handle = MPI_COMM_NULL;
	op->nmade = 1;
}

/* Ranks of colour 0, 1, ... in the order of their keys; colour -1: MPI_UNDEFINED. */
#define MOST_COLORS 3
struct colors {
	int color[2][MOST_RANKS], key[2][MOST_RANKS];
};

static struct colors colors_of(const struct op *op, const struct model_comm *c)
{
	struct draw d = draw_from(op->seed, 2);
	int most = draw_between(&d, 1, MOST_COLORS), undefined = draw_chance(&d, 40);
	struct colors x;
	memset(&x, 0, sizeof x);
	for (int s = 0; s <= c->inter; s++)
		for (int i = 0; i < c->side[s].n; i++) {
			x.color[s][i] = draw_below(&d, most + undefined) - undefined;
			x.key[s][i] = draw_between(&d, -2, 2);
		}
	return x;
}

/* The members of one colour, by key and then by old rank. */
static struct group colored(const struct colors *x, const struct group *g, int side, int color)
{
	struct group made = {0};
	for (int key = -2; key <= 2; key++)
		for (int i = 0; i < g->n; i++)
			if (x->color[side][i] == color && x->key[side][i] == key)
				made.at[made.n++] = g->at[i];
	return made;
}

static void make_split(struct op *op)
{
	const struct model_comm c = model.comm[op->comm];
	struct colors x = colors_of(op, &c);
	for (int color = 0; color < MOST_COLORS; color++) {
		struct group a = colored(&x, &c.side[0], 0, color), b = colored(&x, &c.side[1], 1, color);
		struct model_comm *made;
		if (a.n == 0 || (c.inter && b.n == 0))
			continue;
		made = &model.comm[model_add(op->number)];
		made->inter = c.inter;
		made->side[0] = a;
		made->side[1] = b;
		op->nmade++;
	}
}

/* A random subset of a group, of one member at least, in random order. */
static struct group subset(const struct group *g, struct draw *d)
{
	struct group made = {0}, order = *g;
	draw_shuffle(d, order.at, order.n);
	made.n = draw_between(d, 1, g->n);
	memcpy(made.at, order.at, made.n * sizeof *made.at);
	return made;
}

static void make_create(struct op *op, struct draw *d)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct model_comm *made = &model.comm[model_add(op->number)];
	made->inter = c->inter;
	for (int s = 0; s <= c->inter; s++)
		made->side[s] = subset(&c->side[s], d);
	op->nmade = 1;
}

static void make_inter(struct op *op, struct draw *d)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct model_comm *made = &model.comm[model_add(op->number)];
	struct group order = c->side[0];
	int left = draw_below(d, order.n - 1) + 1;
	draw_shuffle(d, order.at, order.n);
	made->inter = true;
	made->side[0].n = left;
	made->side[1].n = order.n - left;
	memcpy(made->side[0].at, order.at, left * sizeof *order.at);
	memcpy(made->side[1].at, order.at + left, (order.n - left) * sizeof *order.at);
	op->nmade = 1;
}

/* The side that says high comes last. */
static bool high_side(const struct op *op)
{
	return op->seed & 1;
}

static void make_merge(struct op *op)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct model_comm *made = &model.comm[model_add(op->number)];
	bool swap = !high_side(op);
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < c->side[s ^ swap].n; i++)
			made->side[0].at[made->side[0].n++] = c->side[s ^ swap].at[i];
	op->nmade = 1;
}

static bool is_pair(const struct model_comm *c)
{
	return !c->inter && c->side[0].n > 1;
}

static bool is_grid(const struct model_comm *c)
{
	return c->topology == CART;
}

static int pick_parent(enum kind kind, struct draw *d)
{
	if (kind == CART_SUB)
		return model_pick(d, is_grid);
	if (kind == INTER)
		return model_pick(d, is_pair);
	if (kind == MERGE)
		return model_pick(d, model_is_inter);
	return model_pick(d, kind >= CREATE_GROUP ? model_is_intra : NULL);
}

static bool draw_op(struct op *op, struct draw *d)
{
	int n;
	char name[80];
	if (model_room() < MOST_RANKS)
		return false;
	op->kind = draw_below(d, KINDS);
	op->comm = pick_parent(op->kind, d);
	if (op->comm < 0)
		return false;
	op->made = model.ncomms;
	switch (op->kind) {
	case DUP:
	case DUP_WITH_INFO:
	case IDUP:
		make_dup(op);
		break;
	case SPLIT:
		make_split(op);
		break;
	case CREATE:
	case CREATE_GROUP:
		make_create(op, d);
		break;
	case INTER:
		make_inter(op, d);
		break;
	case MERGE:
		make_merge(op);
		break;
	default:
		topo_make(op, op->kind - CART_MAKE, d);
	}
	n = snprintf(op->text, sizeof op->text, "%s of %s:", kinds[op->kind], model_name(op->comm, name));
	for (int i = 0; i < op->nmade && n < 150; i++)
		n += snprintf(op->text + n, sizeof op->text - n, " %s", model_name(op->made + i, name));
	return true;
}

/* --- made for real */
static void run_create(const struct op *op, MPI_Comm parent, bool by_group, MPI_Comm *made)
{
	const struct model_comm *c = &model.comm[op->made];
	int side = model_side(&model.comm[op->comm]);
	MPI_Group group = model_group(&c->side[side]);
	if (!by_group)
		TRY(MPI_Comm_create(parent, group, made));
	else if (model_is_member(c))
		TRY(MPI_Comm_create_group(parent, group, 200 + op->number, made));
	TRY(MPI_Group_free(&group));
}

static void run_split(const struct op *op, MPI_Comm parent, MPI_Comm *made)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct colors x = colors_of(op, c);
	int side = model_side(c), me = model_rank(c), color = x.color[side][me];
	TRY(MPI_Comm_split(parent, color < 0 ? MPI_UNDEFINED : color, x.key[side][me], made));
}

static void run_inter(const struct op *op, MPI_Comm parent, MPI_Comm *made)
{
	const struct model_comm *c = &model.comm[op->comm], *inter = &model.comm[op->made];
	struct draw d = draw_from(op->seed, 3);
	int side = model_side(inter), leader[2], me = model_rank(inter);
	MPI_Comm half;
	TRY(MPI_Comm_split(parent, side, me, &half));
	for (int s = 0; s < 2; s++)
		leader[s] = draw_below(&d, inter->side[s].n);
	TRY(MPI_Intercomm_create(half, leader[side], parent,
		group_find(&c->side[0], inter->side[!side].at[leader[!side]]), 300 + op->number, made));
	if (draw_chance(&d, 50)) {
		TRY(MPI_Barrier(half));
		collective_run(&(struct model_comm){.side = {inter->side[side]}, .handle = half}, op->seed, NULL);
	}
	TRY(MPI_Comm_free(&half));
}

static void run_dup(const struct op *op, MPI_Comm parent, MPI_Comm *made)
{
	MPI_Info info;
	MPI_Request r;
	switch (op->kind) {
	case DUP:
		TRY(MPI_Comm_dup(parent, made));
		break;
	case DUP_WITH_INFO:
		TRY(MPI_Info_create(&info));
		TRY(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
		TRY(MPI_Comm_dup_with_info(parent, info, made));
		TRY(MPI_Info_free(&info));
		break;
	default:
		TRY(MPI_Comm_idup(parent, made, &r));
		if (op->seed & 1)
			collective_run(&model.comm[op->comm], op->seed, NULL);
		TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
}

/* MPICH 5.0 gives a topology that leaves out ranks, and its copies, the group of its parent. */
static bool has_parents_group(const struct model_comm *c, MPI_Group group)
{
	int n;
	TRY(MPI_Group_size(group, &n));
	return n > c->side[model_side(c)].n && model_is_native(c) && model_library_is("5.0.");
}

/* What the communicator says of itself. */
static void look_at(const struct model_comm *c, MPI_Comm parent)
{
	const struct group *mine = &c->side[model_side(c)];
	int size, rank, inter, relation;
	MPI_Group group, wanted = model_group(mine);
	TRY(MPI_Comm_size(c->handle, &size));
	TRY(MPI_Comm_rank(c->handle, &rank));
	TRY(MPI_Comm_test_inter(c->handle, &inter));
	TRY(MPI_Comm_group(c->handle, &group));
	TRY(MPI_Group_compare(group, wanted, &relation));
	if (has_parents_group(c, group))
		relation = MPI_IDENT;
	if (size != mine->n || rank != group_find(mine, model.me) || relation != MPI_IDENT || inter != c->inter)
		trace_problem("rank %d of %d, not %d of %d; group %d", rank, size, group_find(mine, model.me), mine->n,
			relation);
	TRY(MPI_Group_free(&group));
	TRY(MPI_Group_free(&wanted));
	TRY(MPI_Comm_compare(parent, c->handle, &relation));
	if (!model_library_is("5.0.")) /* such groups are compared, too */
		trace_number(relation, "compared");
	if (inter) {
		TRY(MPI_Comm_remote_size(c->handle, &size));
		TRY(MPI_Comm_remote_group(c->handle, &group));
		wanted = model_group(model_peers(c));
		TRY(MPI_Group_compare(group, wanted, &relation));
		if (size != model_peers(c)->n || relation != MPI_IDENT)
			trace_problem("remote group of %d, not %d; group %d", size, model_peers(c)->n, relation);
		TRY(MPI_Group_free(&group));
		TRY(MPI_Group_free(&wanted));
	}
}

static void run_op(struct op *op)
{
	MPI_Comm made = MPI_COMM_NULL, parent = model.comm[op->comm].handle;
	struct model_comm *mine = NULL;
	switch (op->kind) {
	case DUP:
	case DUP_WITH_INFO:
	case IDUP:
		run_dup(op, parent, &made);
		break;
	case SPLIT:
		run_split(op, parent, &made);
		break;
	case CREATE:
	case CREATE_GROUP:
		run_create(op, parent, op->kind == CREATE_GROUP, &made);
		break;
	case INTER:
		run_inter(op, parent, &made);
		break;
	case MERGE:
		TRY(MPI_Intercomm_merge(parent, model_side(&model.comm[op->comm]) == high_side(op), &made));
		break;
	default:
		topo_run(op, op->kind - CART_MAKE, parent, &made);
	}
	for (int i = 0; i < op->nmade; i++)
		if (model_is_member(&model.comm[op->made + i]))
			mine = &model.comm[op->made + i];
	if (!mine != (made == MPI_COMM_NULL)) {
		trace_problem("%s communicator", mine ? "no" : "an unexpected");
		return;
	}
	if (!mine)
		return;
	mine->handle = made;
	look_at(mine, parent);
	if (mine->topology != PLAIN)
		topo_look(mine);
}

const struct topic topic_make_comm = {.name = "make", .weight = 22, .draw = draw_op, .run = run_op};

/* --- freeing */
static bool may_go(const struct model_comm *c)
{
	return c->maker >= 0;
}

static bool draw_free(struct op *op, struct draw *d)
{
	char name[80];
	op->comm = model_pick(d, may_go);
	if (op->comm < 0)
		return false;
	model.comm[op->comm].gone = true;
	snprintf(op->text, sizeof op->text, "free %s", model_name(op->comm, name));
	return true;
}

/* Whether an operation before this one has left requests on its communicator. */
static bool has_requests(const struct op *op)
{
	for (int i = 0; i < op->number; i++) {
		const struct op *o = &plan.op[i];
		if (o->comm == op->comm &&
			((o->pending && (o->completed_by < 0 || o->completed_by > op->number)) || o->kept))
			return true;
	}
	return false;
}

static void run_free(struct op *op)
{
	topic_watches_attributes = !has_requests(op);
	TRY(MPI_Comm_free(&model.comm[op->comm].handle));
	topic_watches_attributes = false;
	trace_number(model.comm[op->comm].handle == MPI_COMM_NULL, "freed");
}

const struct topic topic_free_comm = {.name = "free", .weight = 6, .draw = draw_free, .run = run_free};
