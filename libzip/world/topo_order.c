/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of blocks between the same two ranks. See topo_order.h. */
#include "libzip/world/topo_order.h"

#include "libzip/shim/shim.h"

static int make_probe(int kind, MPI_Comm *made)
{
	const int dims[2] = {1, 1}, periods[2] = {1, 1}, index[1] = {4}, self[4] = {0}, weights[4] = {1, 1, 1, 1};
	return kind == MPI_CART	   ? zn.Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, made)
	       : kind == MPI_GRAPH ? zn.Graph_create(MPI_COMM_SELF, 1, index, self, 0, made)
				   : zn.Dist_graph_create_adjacent(MPI_COMM_SELF, 4, self, weights, 4, self, weights,
					     MPI_INFO_NULL, 0, made);
}

static int ask(enum ztopo_form form, MPI_Comm comm, int got[4])
{
	const int sent[4] = {0, 1, 2, 3}, counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
	const MPI_Aint displs[4] = {0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int)};
	const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	return form == ZTOPO_ALLTOALL ? zn.Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm)
	       : form == ZTOPO_ALLTOALLV
		       ? zn.Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm)
		       : zn.Neighbor_alltoallw(sent, counts, displs, types, got, counts, displs, types, comm);
}

static enum ztopo_order find_order(int kind, enum ztopo_form form)
{
	MPI_Comm probe;
	int got[4] = {0};
	if (make_probe(kind, &probe) != MPI_SUCCESS)
		return ZTOPO_ORDER_SAME;
	int rc = ask(form, probe, got);
	zn.Comm_free(&probe);
	if (rc != MPI_SUCCESS || got[0] == 0)
		return ZTOPO_ORDER_SAME;
	return got[0] == 3 ? ZTOPO_ORDER_REVERSED : ZTOPO_ORDER_OPPOSITE;
}

enum ztopo_order ztopo_order_native(int kind, enum ztopo_form form)
{
	static enum ztopo_order known[3][ZTOPO_FORMS];
	enum ztopo_order *o = &known[kind == MPI_CART ? 0 : kind == MPI_GRAPH ? 1 : 2][form];
	if (*o == ZTOPO_ORDER_UNKNOWN)
		*o = find_order(kind, form);
	return *o;
}

/* Two bits for each form. */
int ztopo_order_all(const struct ztopo *t)
{
	int orders = 0;
	for (enum ztopo_form form = 0; form < ZTOPO_FORMS; form++)
		orders |= (int)ztopo_order_native(t->kind, form) << 2 * form;
	return orders;
}

enum ztopo_order ztopo_order_of(const struct ztopo *t, enum ztopo_form form)
{
	return t->repeats ? (enum ztopo_order)(t->orders >> 2 * form & 3) : ZTOPO_ORDER_SAME;
}

int ztopo_order_place(const struct ztopo *t, int l, enum ztopo_order order)
{
	int before = 0, at = t->indegree;
	if (order == ZTOPO_ORDER_OPPOSITE && t->kind == MPI_CART)
		return t->source[l] == t->source[l ^ 1]
			       ? l ^ 1
			       : l; /* the neighbour below instead of the one above, and back */
	if (order == ZTOPO_ORDER_SAME || !t->repeats)
		return l;
	for (int i = 0; i < l; i++)
		before += t->source[i] == t->source[l];
	do
		at--;
	while (t->source[at] != t->source[l] || before-- > 0);
	return at;
}
