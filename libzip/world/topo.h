/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies (MPI-4.0 chapter 8) of spanning communicators: the program's arguments, and the neighbours of
 * this rank that follow from them. Never changed once a communicator has it. Shared by reference, because a duplicate
 * of a communicator has the same topology. Ranks are those in the communicator. reorder changes none, because the order
 * of the ranks is the placement's (placement.h). Local communicators have native topologies. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_TOPO_H
#define ZIP_LIBZIP_TOPO_H

#include <mpi.h>
#include <stdbool.h>

struct ztopo {
	int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
	int refs;
	int rank; /* this rank */
	/* In the order of neighbourhood collectives (MPI-4.0 section 8.6). MPI_CART: along each dimension the
	 * neighbour below, then the one above; MPI_PROC_NULL: none. Both arrays are the same, except for
	 * MPI_DIST_GRAPH. */
	int indegree, outdegree;
	int *source, *target; /* [indegree], [outdegree] */
	bool repeats;	      /* a rank is twice among the sources or among the targets */
	int orders;	      /* if repeats: the members' order of blocks (topo_order.h) */

	int ndims;			    /* MPI_CART. Members of other kinds are 0 or NULL */
	int *dims, *periods, *coords;	    /* [ndims]; coords: of this rank */
	int nnodes, nedges;		    /* MPI_GRAPH */
	int *index, *edges;		    /* [nnodes], [nedges] */
	bool weighted;			    /* MPI_DIST_GRAPH */
	int *source_weight, *target_weight; /* [indegree], [outdegree], if weighted */
	int words[];
};

/* Make a topology from checked arguments; copy the arrays. The caller has the first reference. NULL: out of memory. */
struct ztopo *ztopo_cart(int ndims, const int dims[], const int periods[], int rank);
struct ztopo *ztopo_graph(int nnodes, const int index[], const int edges[], int rank);
/* Reads weights only if weighted, and where there are neighbours. */
struct ztopo *ztopo_dist_graph(int indegree, const int source[], const int source_weight[], int outdegree,
	const int target[], const int target_weight[], bool weighted, int rank);
struct ztopo *ztopo_ref(struct ztopo *);
void ztopo_unref(struct ztopo *); /* NULL is allowed */

/* The number of ranks in a grid, the product of its dimensions; -1: more than limit. */
int ztopo_grid_size(int ndims, const int dims[], int limit);
/* MPI_CART. Ranks are numbered with the last dimension running fastest. */
int ztopo_rank_at(const struct ztopo *, const int coords[]); /* MPI_PROC_NULL: not in the grid */
void ztopo_coords_of(const struct ztopo *, int rank, int maxdims, int coords[]);
/* The rank so many steps from this one along a dimension; MPI_PROC_NULL: outside the grid. */
int ztopo_neighbour(const struct ztopo *, int dim, long long steps);

/* Makes a native communicator with a topology from a native communicator of the local ones of n members (vrank[n]; this
 * process is `rank` among them). If all members are local, it has the topology itself; else the graph of the local
 * neighbours, on which the native part of neighbourhood collectives runs. Collective over `from`; blocks only until the
 * others call it. A native error code; then *made is MPI_COMM_NULL. */
int ztopo_on_native(const struct ztopo *, const int vrank[], int n, MPI_Comm from, MPI_Comm *made);

#endif
