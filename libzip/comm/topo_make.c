/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Cart_create, Cart_sub and Graph_create. Where the parent spans clusters, the new communicator is a split of it
 * with a topology attached. If the new communicator is local itself, as rows of a grid may be, its topology is native.
 */
#include <stdlib.h>

#include "libzip/shim/running.h"
#include "libzip/world/error.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_split.h"
#include "libzip/comm/topo_make.h"
#include "libzip/world/topo_order.h"

int ztopo_make(struct zcomm *c, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm)
{
	struct zcomm_outcome outcome = {0};
	*newcomm = MPI_COMM_NULL;
	if (!topo && color != MPI_UNDEFINED)
		zcomm_outcome_note(&outcome, MPI_ERR_NO_MEM, "out of memory");
	if (topo && topo->repeats)
		topo->orders = ztopo_order_all(topo);
	MPI_Comm made = zcomm_split(c, color, key, true, topo, name, &outcome);
	ztopo_unref(topo);
	return zcomm_make_end(made, c->handle, name, &outcome, newcomm);
}

/* --- grids --- */

/* The number of ranks of a grid, or -1: an error has been raised, whose code is in *rc. */
static int check_grid(const struct zcomm *c, int ndims, const int dims[], const int periods[], const char *name,
	int *rc)
{
	if (c->local) {
		*rc = zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator");
		return -1;
	}
	if (ndims < 0 || (ndims > 0 && (!dims || !periods))) {
		*rc = zerror_raise(c, MPI_ERR_ARG, name, "no dimensions");
		return -1;
	}
	for (int d = 0; d < ndims; d++)
		if (dims[d] <= 0) {
			*rc = zerror_raise(c, MPI_ERR_DIMS, name, "dimension %d is %d", d, dims[d]);
			return -1;
		}
	int ranks = ztopo_grid_size(ndims, dims, c->size);
	if (ranks < 0)
		*rc = zerror_raise(c, MPI_ERR_ARG, name, "the grid is larger than the communicator, which has %d ranks",
			c->size);
	return ranks;
}

int zip_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Cart_create";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	zcomm_reap();
	if (!c)
		ZTOPO_RETURN_NATIVE(comm, zn.Cart_create(comm, ndims, dims, periods, reorder, newcomm));
	int ranks = check_grid(c, ndims, dims, periods, name, &rc);
	if (ranks < 0 && !c->local && ndims >= 0 && dims && periods) /* as native MPI does for a wrong size alone */
		*newcomm = MPI_COMM_NULL;
	if (ranks < 0)
		return rc;
	bool in = c->rank < ranks;
	return ztopo_make(c, in ? 0 : MPI_UNDEFINED, c->rank, in ? ztopo_cart(ndims, dims, periods, c->rank) : NULL,
		name, newcomm);
}

int zip_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Cart_sub";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c)
		ZTOPO_RETURN_NATIVE(comm, zn.Cart_sub(comm, remain_dims, newcomm));
	const struct ztopo *t = c->topo;
	if (!t || t->kind != MPI_CART)
		return zerror_raise(c, MPI_ERR_TOPOLOGY, name, "the communicator has no Cartesian topology");
	if (t->ndims > 0 && !remain_dims)
		return zerror_raise(c, MPI_ERR_ARG, name, "no remain_dims");
	int *kept = malloc((2 * (size_t)t->ndims + 1) * sizeof *kept), n = 0, color = 0, rank = 0;
	if (!kept)
		return zerror_raise(c, MPI_ERR_NO_MEM, name, "out of memory");
	for (int d = 0; d < t->ndims; d++) {
		if (!remain_dims[d]) {
			color = color * t->dims[d] + t->coords[d];
			continue;
		}
		rank = rank * t->dims[d] + t->coords[d];
		kept[n] = t->dims[d];
		kept[t->ndims + n++] = t->periods[d];
	}
	if (n == 0 && zrunning_has_bug(ZVERSION_CART_SUB))
		color = c->rank == 0 ? 0 : MPI_UNDEFINED;
	struct ztopo *sub = color != MPI_UNDEFINED ? ztopo_cart(n, kept, kept + t->ndims, rank) : NULL;
	free(kept);
	return ztopo_make(c, color, rank, sub, name, newcomm);
}

int zip_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
	struct zcomm *c = zcomm_find(comm);
	int rc = MPI_SUCCESS;
	if (!c)
		return zn.Cart_map(comm, ndims, dims, periods, newrank);
	int ranks = check_grid(c, ndims, dims, periods, "MPI_Cart_map", &rc);
	if (ranks >= 0)
		*newrank = c->rank < ranks ? c->rank : MPI_UNDEFINED;
	return rc;
}

/* --- graphs that all ranks know --- */

static int check_graph(const struct zcomm *c, int nnodes, const int index[], const int edges[], const char *name)
{
	if (c->local)
		return zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator");
	if (nnodes < 0 || nnodes > c->size)
		return zerror_raise(c, MPI_ERR_ARG, name, "%d nodes, and %d ranks in the communicator", nnodes,
			c->size);
	if (nnodes > 0 && (!index || !edges))
		return zerror_raise(c, MPI_ERR_ARG, name, "no index or no edges");
	for (int i = 0; i < nnodes; i++)
		if (index[i] < (i > 0 ? index[i - 1] : 0))
			return zerror_raise(c, MPI_ERR_ARG, name, "index[%d] is %d, less than before", i, index[i]);
	for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; i++)
		if (edges[i] < 0 || edges[i] >= nnodes)
			return zerror_raise(c, MPI_ERR_ARG, name, "edges[%d] is %d, and there are %d nodes", i,
				edges[i], nnodes);
	return MPI_SUCCESS;
}

int zip_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Graph_create";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c)
		ZTOPO_RETURN_NATIVE(comm, zn.Graph_create(comm, nnodes, index, edges, reorder, newcomm));
	int rc = check_graph(c, nnodes, index, edges, name);
	if (rc != MPI_SUCCESS)
		return rc;
	bool in = c->rank < nnodes;
	return ztopo_make(c, in ? 0 : MPI_UNDEFINED, c->rank, in ? ztopo_graph(nnodes, index, edges, c->rank) : NULL,
		name, newcomm);
}

int zip_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
	struct zcomm *c = zcomm_find(comm);
	if (!c)
		return zn.Graph_map(comm, nnodes, index, edges, newrank);
	int rc = check_graph(c, nnodes, index, edges, "MPI_Graph_map");
	if (rc == MPI_SUCCESS)
		*newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
	return rc;
}
