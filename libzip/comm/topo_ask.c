/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions that ask a communicator about its topology. Local communicators have native topologies. */
#include <string.h>

#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/shim/resolve.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"

/* The topology of that kind, or NULL: an error has been raised, whose code is in *rc. */
static const struct ztopo *of_kind(struct zcomm *c, int kind, const char *name, int *rc)
{
	*rc = MPI_SUCCESS;
	if (c->topo && c->topo->kind == kind)
		return c->topo;
	*rc = zerror_raise(c, MPI_ERR_TOPOLOGY, name, "the communicator has no %s topology",
		kind == MPI_CART	 ? "Cartesian"
		: kind == MPI_DIST_GRAPH ? "distributed graph"
					 : "graph");
	return NULL;
}

static int lesser(int a, int b)
{
	return a < b ? a : b;
}

/* At most max of the n values. */
static void give(int *to, int max, const int *values, int n)
{
	if (to && lesser(max, n) > 0)
		memcpy(to, values, (size_t)lesser(max, n) * sizeof(int));
}

int zip_Topo_test(MPI_Comm comm, int *status)
{
	struct zcomm *c = zcomm_find(comm);
	if (!c)
		return zn.Topo_test(comm, status);
	*status = c->topo ? c->topo->kind : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* --- grids --- */

int zip_Cartdim_get(MPI_Comm comm, int *ndims)
{
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Cartdim_get(comm, ndims);
	const struct ztopo *t = of_kind(c, MPI_CART, "MPI_Cartdim_get", &rc);
	if (t)
		*ndims = t->ndims;
	return rc;
}

int zip_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
	static const char name[] = "MPI_Cart_get";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Cart_get(comm, maxdims, dims, periods, coords);
	const struct ztopo *t = of_kind(c, MPI_CART, name, &rc);
	if (!t)
		return rc;
	if (maxdims < t->ndims)
		return zerror_raise(c, MPI_ERR_ARG, name, "maxdims is %d, and the grid has %d dimensions", maxdims,
			t->ndims);
	give(dims, maxdims, t->dims, t->ndims);
	give(periods, maxdims, t->periods, t->ndims);
	give(coords, maxdims, t->coords, t->ndims);
	return MPI_SUCCESS;
}

int zip_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
	static const char name[] = "MPI_Cart_rank";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Cart_rank(comm, coords, rank);
	const struct ztopo *t = of_kind(c, MPI_CART, name, &rc);
	if (!t)
		return rc;
	if (t->ndims > 0 && !coords)
		return zerror_raise(c, MPI_ERR_ARG, name, "no coords");
	int at = ztopo_rank_at(t, coords);
	if (at == MPI_PROC_NULL)
		return zerror_raise(c, MPI_ERR_ARG, name, "the coordinates are not in the grid");
	*rank = at;
	return MPI_SUCCESS;
}

int zip_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
	static const char name[] = "MPI_Cart_coords";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Cart_coords(comm, rank, maxdims, coords);
	const struct ztopo *t = of_kind(c, MPI_CART, name, &rc);
	if (!t)
		return rc;
	if (rank < 0 || rank >= c->size)
		return zerror_raise(c, MPI_ERR_RANK, name, "there is no rank %d", rank);
	if (maxdims < t->ndims || (t->ndims > 0 && !coords))
		return zerror_raise(c, MPI_ERR_ARG, name, "room for %d coordinates, and the grid has %d dimensions",
			maxdims, t->ndims);
	ztopo_coords_of(t, rank, maxdims, coords);
	return MPI_SUCCESS;
}

int zip_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
	static const char name[] = "MPI_Cart_shift";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Cart_shift(comm, direction, disp, rank_source, rank_dest);
	const struct ztopo *t = of_kind(c, MPI_CART, name, &rc);
	if (!t)
		return rc;
	if (direction < 0 || direction >= t->ndims)
		return zerror_raise(c, MPI_ERR_ARG, name, "direction %d of a grid with %d dimensions", direction,
			t->ndims);
	*rank_source = ztopo_neighbour(t, direction, -(long long)disp);
	*rank_dest = ztopo_neighbour(t, direction, disp);
	return MPI_SUCCESS;
}

/* --- graphs --- */

int zip_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Graphdims_get(comm, nnodes, nedges);
	const struct ztopo *t = of_kind(c, MPI_GRAPH, "MPI_Graphdims_get", &rc);
	if (t) {
		*nnodes = t->nnodes;
		*nedges = t->nedges;
	}
	return rc;
}

int zip_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
	static const char name[] = "MPI_Graph_get";
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Graph_get(comm, maxindex, maxedges, index, edges);
	const struct ztopo *t = of_kind(c, MPI_GRAPH, name, &rc);
	if (!t)
		return rc;
	if (maxindex < t->nnodes || maxedges < t->nedges)
		return zerror_raise(c, MPI_ERR_ARG, name, "room for %d nodes and %d edges, and there are %d and %d",
			maxindex, maxedges, t->nnodes, t->nedges);
	give(index, maxindex, t->index, t->nnodes);
	give(edges, maxedges, t->edges, t->nedges);
	return MPI_SUCCESS;
}

/* The neighbours of any rank: how many, and where they stand. */
static int neighbours_of(struct zcomm *c, int rank, const char *name, const int **first, int *n)
{
	int rc;
	const struct ztopo *t = of_kind(c, MPI_GRAPH, name, &rc);
	if (!t)
		return rc;
	if (rank < 0 || rank >= t->nnodes)
		return zerror_raise(c, MPI_ERR_RANK, name, "there is no rank %d", rank);
	int begin = rank > 0 ? t->index[rank - 1] : 0;
	*first = t->edges + begin;
	*n = t->index[rank] - begin;
	return MPI_SUCCESS;
}

int zip_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
	struct zcomm *c = zcomm_find(comm);
	const int *first;
	return c ? neighbours_of(c, rank, "MPI_Graph_neighbors_count", &first, nneighbors)
		 : zn.Graph_neighbors_count(comm, rank, nneighbors);
}

int zip_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
	struct zcomm *c = zcomm_find(comm);
	const int *first = NULL;
	int n = 0;
	if (!c)
		return zn.Graph_neighbors(comm, rank, maxneighbors, neighbors);
	int rc = neighbours_of(c, rank, "MPI_Graph_neighbors", &first, &n);
	if (rc == MPI_SUCCESS)
		give(neighbors, maxneighbors, first, n);
	return rc;
}

int zip_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Dist_graph_neighbors_count(comm, indegree, outdegree, weighted);
	const struct ztopo *t = of_kind(c, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors_count", &rc);
	if (t) {
		*indegree = t->indegree;
		*outdegree = t->outdegree;
		*weighted = t->weighted;
	}
	return rc;
}

int zip_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
	int destinations[], int destweights[])
{
	struct zcomm *c = zcomm_find(comm);
	int rc;
	if (!c)
		return zn.Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree, destinations,
			destweights);
	const struct ztopo *t = of_kind(c, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors", &rc);
	if (!t)
		return rc;
	give(sources, maxindegree, t->source, t->indegree);
	give(destinations, maxoutdegree, t->target, t->outdegree);
	if (t->weighted && sourceweights != zresolve_unweighted())
		give(sourceweights, maxindegree, t->source_weight, t->indegree);
	if (t->weighted && destweights != zresolve_unweighted())
		give(destweights, maxoutdegree, t->target_weight, t->outdegree);
	return MPI_SUCCESS;
}
