/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators with topologies: grids, graphs, distributed graphs. */
#include <stdio.h>
#include <string.h>

#include "comms.h"
#include "trace.h"

enum kind { GRID, PART_OF_GRID, PLAIN_GRAPH, ADJACENT, BY_EDGES };

static void add_neighbor(struct neighbors *list, int rank)
{
	list->at[list->n++] = rank;
}

/* --- grids */
static void coordinates(const struct model_comm *c, int rank, int at[])
{
	for (int i = c->ndims - 1; i >= 0; i--) {
		at[i] = rank % c->dims[i];
		rank /= c->dims[i];
	}
}

static int shifted(const struct model_comm *c, int rank, int dim, int by)
{
	int at[3], found = 0;
	coordinates(c, rank, at);
	at[dim] += by;
	if (!c->periods[dim] && (at[dim] < 0 || at[dim] >= c->dims[dim]))
		return MPI_PROC_NULL;
	at[dim] = (at[dim] + c->dims[dim]) % c->dims[dim];
	for (int i = 0; i < c->ndims; i++)
		found = found * c->dims[i] + at[i];
	return found;
}

static void grid_neighbors(struct model_comm *c)
{
	c->topology = CART;
	for (int r = 0; r < c->side[0].n; r++) {
		for (int i = 0; i < c->ndims; i++) {
			add_neighbor(&c->from[r], shifted(c, r, i, -1));
			add_neighbor(&c->from[r], shifted(c, r, i, 1));
		}
		c->to[r] = c->from[r];
	}
}

static void make_grid(struct op *op, struct draw *d)
{
	const struct model_comm *parent = &model.comm[op->comm];
	struct model_comm *c = &model.comm[model_add(op->number)];
	int size = 1;
	op->nmade = 1;
	c->ndims = draw_between(d, 1, 3);
	for (int i = 0; i < c->ndims; i++) {
		c->dims[i] = draw_between(d, 1, parent->side[0].n / size);
		c->periods[i] = draw_chance(d, 50);
		size *= c->dims[i];
	}
	c->side[0] = parent->side[0];
	c->side[0].n = size;
	grid_neighbors(c);
}

/* Which dimensions remain: at least one. */
static void remaining(const struct op *op, const struct model_comm *parent, int remain[])
{
	struct draw d = draw_from(op->seed, 4);
	int any = 0;
	for (int i = 0; i < parent->ndims; i++)
		any += remain[i] = draw_chance(&d, 50);
	if (!any)
		remain[draw_below(&d, parent->ndims)] = 1;
}

static void make_part(struct op *op)
{
	const struct model_comm parent = model.comm[op->comm];
	int remain[3], slot[MOST_RANKS], at[3], key;
	remaining(op, &parent, remain);
	for (int i = 0; i < MOST_RANKS; i++)
		slot[i] = -1;
	for (int r = 0; r < parent.side[0].n; r++) {
		struct model_comm *c;
		coordinates(&parent, r, at);
		key = 0;
		for (int i = 0; i < parent.ndims; i++)
			key = remain[i] ? key : key * parent.dims[i] + at[i];
		if (slot[key] < 0) {
			slot[key] = model_add(op->number);
			c = &model.comm[slot[key]];
			op->nmade++;
			for (int i = 0; i < parent.ndims; i++)
				if (remain[i]) {
					c->dims[c->ndims] = parent.dims[i];
					c->periods[c->ndims++] = parent.periods[i];
				}
		}
		c = &model.comm[slot[key]];
		c->side[0].at[c->side[0].n++] = parent.side[0].at[r];
	}
	for (int i = 0; i < op->nmade; i++)
		grid_neighbors(&model.comm[op->made + i]);
}

/* --- graphs */
static void make_graph(struct op *op, enum kind kind, struct draw *d)
{
	struct model_comm *c = &model.comm[model_add(op->number)];
	int n = model.comm[op->comm].side[0].n;
	op->nmade = 1;
	c->side[0] = model.comm[op->comm].side[0];
	c->topology = kind == PLAIN_GRAPH ? GRAPH : DIST_GRAPH;
	c->unordered = kind == BY_EDGES;
	if (kind == PLAIN_GRAPH)
		n = c->side[0].n = draw_between(d, 1, n);
	for (int edges = draw_below(d, 3 * n + 1); edges > 0; edges--) {
		int a = draw_below(d, n), b = draw_below(d, n);
		if (c->to[a].n > MOST_NEIGHBORS - 2 || c->from[b].n > MOST_NEIGHBORS - 2 ||
			c->from[a].n > MOST_NEIGHBORS - 2 || c->to[b].n > MOST_NEIGHBORS - 2)
			continue;
		add_neighbor(&c->to[a], b);
		add_neighbor(&c->from[b], a);
		if (kind == PLAIN_GRAPH && a != b) { /* both ways */
			add_neighbor(&c->to[b], a);
			add_neighbor(&c->from[a], b);
		}
	}
	for (int r = 0; r < n; r++) {
		if (kind != PLAIN_GRAPH) {
			draw_shuffle(d, c->to[r].at, c->to[r].n);
			draw_shuffle(d, c->from[r].at, c->from[r].n);
		} else {
			c->from[r] = c->to[r];
		}
	}
}

void topo_make(struct op *op, int kind, struct draw *d)
{
	if (kind == GRID)
		make_grid(op, d);
	else if (kind == PART_OF_GRID)
		make_part(op);
	else
		make_graph(op, kind, d);
}

/* --- made for real */
static void run_graph(const struct model_comm *c, MPI_Comm parent, MPI_Comm *made)
{
	int index[MOST_RANKS], edges[MOST_RANKS * MOST_NEIGHBORS], total = 0;
	for (int r = 0; r < c->side[0].n; r++) {
		memcpy(edges + total, c->to[r].at, c->to[r].n * sizeof *edges);
		index[r] = total += c->to[r].n;
	}
	TRY(MPI_Graph_create(parent, c->side[0].n, index, edges, 0, made));
}

/* A weight for an edge that both its ends know. */
static void weights(const struct neighbors *list, int me, int out[])
{
	for (int i = 0; i < list->n; i++)
		out[i] = 1 + list->at[i] + me;
}

static void run_adjacent(const struct op *op, const struct model_comm *c, MPI_Comm parent, MPI_Comm *made)
{
	int me = model_rank(c), in[MOST_NEIGHBORS], out[MOST_NEIGHBORS];
	const struct neighbors *from = &c->from[me], *to = &c->to[me];
	weights(from, me, in);
	weights(to, me, out);
	if (op->seed & 1)
		TRY(MPI_Dist_graph_create_adjacent(parent, from->n, from->at, MPI_UNWEIGHTED, to->n, to->at,
			MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made));
	else
		TRY(MPI_Dist_graph_create_adjacent(parent, from->n, from->at, in, to->n, to->at, out, MPI_INFO_NULL, 0,
			made));
}

/* Each edge is told by a rank that is drawn from all. */
static void run_by_edges(const struct op *op, const struct model_comm *c, MPI_Comm parent, MPI_Comm *made)
{
	struct draw d = draw_from(op->seed, 5);
	int n = 0, sources[MOST_RANKS * MOST_NEIGHBORS], degrees[MOST_RANKS * MOST_NEIGHBORS];
	int targets[MOST_RANKS * MOST_NEIGHBORS], weight[MOST_RANKS * MOST_NEIGHBORS];
	for (int r = 0; r < c->side[0].n; r++)
		for (int i = 0; i < c->to[r].n; i++) {
			if (c->side[0].at[draw_below(&d, c->side[0].n)] != model.me)
				continue;
			sources[n] = r;
			degrees[n] = 1;
			targets[n] = c->to[r].at[i];
			weight[n++] = 1 + r + c->to[r].at[i];
		}
	TRY(MPI_Dist_graph_create(parent, n, sources, degrees, targets, op->seed & 1 ? MPI_UNWEIGHTED : weight,
		MPI_INFO_NULL, 0, made));
}

void topo_run(const struct op *op, int kind, MPI_Comm parent, MPI_Comm *made)
{
	struct model_comm *c = &model.comm[op->made];
	int remain[3];
	switch (kind) {
	case GRID:
		TRY(MPI_Cart_create(parent, c->ndims, c->dims, c->periods, 0, made));
		break;
	case PART_OF_GRID:
		remaining(op, &model.comm[op->comm], remain);
		TRY(MPI_Cart_sub(parent, remain, made));
		break;
	case PLAIN_GRAPH:
		run_graph(c, parent, made);
		break;
	case ADJACENT:
		run_adjacent(op, c, parent, made);
		break;
	default:
		run_by_edges(op, c, parent, made);
	}
}

/* --- what it says of itself */
static void look_at_grid(const struct model_comm *c)
{
	int ndims, dims[3] = {0}, periods[3] = {0}, at[3] = {0}, wanted[3] = {0}, rank, source, dest;
	TRY(MPI_Cartdim_get(c->handle, &ndims));
	TRY(MPI_Cart_get(c->handle, 3, dims, periods, at));
	coordinates(c, model_rank(c), wanted);
	for (int i = 0; i < c->ndims; i++)
		if (dims[i] != c->dims[i] || !periods[i] != !c->periods[i] || at[i] != wanted[i])
			trace_problem("dimension %d: %d %d %d", i, dims[i], periods[i], at[i]);
	if (ndims != c->ndims)
		trace_problem("%d dimensions", ndims);
	for (int r = 0; r < c->side[0].n; r++) {
		TRY(MPI_Cart_coords(c->handle, r, 3, at));
		TRY(MPI_Cart_rank(c->handle, at, &rank));
		if (rank != r)
			trace_problem("the coordinates of rank %d are those of %d", r, rank);
	}
	for (int i = 0; i < c->ndims; i++) {
		TRY(MPI_Cart_shift(c->handle, i, 1, &source, &dest));
		if (source != shifted(c, model_rank(c), i, -1) || dest != shifted(c, model_rank(c), i, 1))
			trace_problem("neighbours %d and %d", source, dest);
	}
}

static void look_at_graph(const struct model_comm *c)
{
	int nnodes, nedges, index[MOST_RANKS], edges[MOST_RANKS * MOST_NEIGHBORS], n, list[MOST_NEIGHBORS];
	TRY(MPI_Graphdims_get(c->handle, &nnodes, &nedges));
	TRY(MPI_Graph_get(c->handle, MOST_RANKS, MOST_RANKS * MOST_NEIGHBORS, index, edges));
	trace_number(nnodes, "nodes");
	trace_bytes(index, nnodes * sizeof *index, "index");
	trace_bytes(edges, nedges * sizeof *edges, "edges");
	for (int r = 0; r < c->side[0].n; r++) {
		TRY(MPI_Graph_neighbors_count(c->handle, r, &n));
		TRY(MPI_Graph_neighbors(c->handle, r, MOST_NEIGHBORS, list));
		if (n != c->to[r].n || memcmp(list, c->to[r].at, n * sizeof *list) != 0)
			trace_problem("neighbours of %d", r);
	}
}

/* The order of neighbours is MPI's choice where edges come from several ranks. */
static void look_at_dist_graph(struct model_comm *c)
{
	int in, out, weighted, me = model_rank(c), in_weight[MOST_NEIGHBORS] = {0}, out_weight[MOST_NEIGHBORS] = {0};
	struct neighbors *from = &c->from[me], *to = &c->to[me];
	TRY(MPI_Dist_graph_neighbors_count(c->handle, &in, &out, &weighted));
	if (in != from->n || out != to->n) {
		trace_problem("%d and %d neighbours, not %d and %d", in, out, from->n, to->n);
		return;
	}
	TRY(MPI_Dist_graph_neighbors(c->handle, in, from->at, weighted ? in_weight : MPI_UNWEIGHTED, out, to->at,
		weighted ? out_weight : MPI_UNWEIGHTED));
	trace_number(weighted, "weighted");
	for (int i = 0; i < in; i++)
		trace_loose(from->at[i] + 100 * in_weight[i], "neighbour in");
	for (int i = 0; i < out; i++)
		trace_loose(10000 + to->at[i] + 100 * out_weight[i], "neighbour out");
}

void topo_look(struct model_comm *c)
{
	int status;
	TRY(MPI_Topo_test(c->handle, &status));
	trace_number(status, "topology");
	if (c->topology == CART)
		look_at_grid(c);
	else if (c->topology == GRAPH)
		look_at_graph(c);
	else
		look_at_dist_graph(c);
}
