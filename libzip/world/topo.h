/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies (MPI-4.0 chapter 8) of spanning communicators: what the program said, and from it the neighbours
 * of this rank. Never changed once made; shared by reference, as a duplicate of a communicator has the same one. Ranks
 * are those in the communicator, and reorder changes none: the order of the ranks is the placement's (placement.h).
 * Local communicators have native topologies. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_TOPO_H
#define ZIP_LIBZIP_TOPO_H

#include <mpi.h>
#include <stdbool.h>

struct ztopo {
	int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
	int refs;
	int rank; /* mine */
	/* In the order of neighbourhood collectives (MPI-4.0 section 8.6). MPI_CART: along each dimension the one
	 * below, then the one above, MPI_PROC_NULL where there is none. But for MPI_DIST_GRAPH both are the same. */
	int indegree, outdegree;
	int *source, *target; /* [indegree], [outdegree] */
	bool repeats;	      /* some rank is among the sources or among the targets twice */

	int ndims;			    /* MPI_CART; of the rest, too, what other kinds have is 0 or NULL */
	int *dims, *periods, *coords;	    /* [ndims]; coords: mine */
	int nnodes, nedges;		    /* MPI_GRAPH */
	int *index, *edges;		    /* [nnodes], [nedges] */
	bool weighted;			    /* MPI_DIST_GRAPH */
	int *source_weight, *target_weight; /* [indegree], [outdegree], if weighted */
	int words[];
};

/* Arguments are checked already, arrays are copied. The caller has the first reference. NULL: out of memory. */
struct ztopo *ztopo_cart(int ndims, const int dims[], const int periods[], int rank);
struct ztopo *ztopo_graph(int nnodes, const int index[], const int edges[], int rank);
/* Weights are looked at only if it is weighted, and where there are neighbours. */
struct ztopo *ztopo_dist_graph(int indegree, const int source[], const int source_weight[], int outdegree,
	const int target[], const int target_weight[], bool weighted, int rank);
struct ztopo *ztopo_ref(struct ztopo *);
void ztopo_unref(struct ztopo *); /* NULL: nothing */

/* The products of the dimensions: how many ranks a grid has, or -1: more than limit. */
int ztopo_grid_size(int ndims, const int dims[], int limit);
/* MPI_CART. Ranks are numbered with the last dimension running fastest. */
int ztopo_rank_at(const struct ztopo *, const int coords[]); /* MPI_PROC_NULL: not in the grid */
void ztopo_coords_of(const struct ztopo *, int rank, int maxdims, int coords[]);
/* From me so many steps along a dimension; MPI_PROC_NULL: out of the grid. */
int ztopo_neighbour(const struct ztopo *, int dim, long long steps);

/* Gives a new native communicator of the local ones of n members (vrank[n]; among them me, as rank) what it needs: the
 * topology itself, if all are local; otherwise the graph of the neighbours that are local, on which the native part of
 * neighbourhood collectives runs. Replaces it by another communicator. Collective over it, and blocks only as long as
 * the others take to call it. MPI_SUCCESS or MPI_ERR_NO_MEM, and *native is MPI_COMM_NULL then. */
int ztopo_on_native(const struct ztopo *, const int vrank[], int n, MPI_Comm *native);

#endif
