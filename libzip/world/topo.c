/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies as data, and on native communicators. See topo.h. */
#include "libzip/world/topo.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/shim/resolve.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

static struct ztopo *make(int kind, int rank, size_t words)
{
	struct ztopo *t = calloc(1, sizeof(*t) + words * sizeof(int));

	if (!t)
		return NULL;
	t->kind = kind;
	t->rank = rank;
	t->refs = 1;
	return t;
}

/* Takes the next n words and fills them with the values, if there are any. */
static int *put(int **free_words, const int *values, int n)
{
	int *at = *free_words;

	if (n > 0 && values)
		memcpy(at, values, (size_t)n * sizeof(int));
	*free_words += n;
	return at;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

/* Without memory for the check the answer is yes, which only costs time. */
static bool has_repeats(const int *ranks, int n)
{
	int *sorted = malloc(((size_t)n + 1) * sizeof(int)), at = 0;
	bool found = !sorted;

	for (int i = 0; i < n && sorted; i++)
		if (ranks[i] != MPI_PROC_NULL)
			sorted[at++] = ranks[i];
	if (sorted)
		qsort(sorted, (size_t)at, sizeof(int), compare);
	for (int i = 1; i < at && !found; i++)
		found = sorted[i] == sorted[i - 1];
	free(sorted);
	return found;
}

/* Derives the rest when everything is filled in. */
static struct ztopo *finish(struct ztopo *t)
{
	t->repeats = has_repeats(t->source, t->indegree) || has_repeats(t->target, t->outdegree);
	return t;
}

int ztopo_grid_size(int ndims, const int dims[], int limit)
{
	long long ranks = 1;

	for (int d = 0; d < ndims; d++) {
		ranks *= dims[d];
		if (ranks > limit)
			return -1;
	}
	return (int)ranks;
}

int ztopo_rank_at(const struct ztopo *t, const int coords[])
{
	int rank = 0;

	for (int d = 0; d < t->ndims; d++) {
		int at = coords[d], n = t->dims[d];
		if (at < 0 || at >= n) {
			if (!t->periods[d])
				return MPI_PROC_NULL;
			at = (at % n + n) % n;
		}
		rank = rank * n + at;
	}
	return rank;
}

void ztopo_coords_of(const struct ztopo *t, int rank, int maxdims, int coords[])
{
	for (int d = t->ndims - 1; d >= 0; d--) {
		if (d < maxdims)
			coords[d] = rank % t->dims[d];
		rank /= t->dims[d];
	}
}

int ztopo_neighbour(const struct ztopo *t, int dim, long long steps)
{
	long long at = t->coords[dim] + steps, n = t->dims[dim], stride = 1;

	if (at < 0 || at >= n) {
		if (!t->periods[dim])
			return MPI_PROC_NULL;
		at = (at % n + n) % n;
	}
	for (int d = dim + 1; d < t->ndims; d++)
		stride *= t->dims[d];
	return (int)(t->rank + (at - t->coords[dim]) * stride);
}

struct ztopo *ztopo_cart(int ndims, const int dims[], const int periods[], int rank)
{
	struct ztopo *t = make(MPI_CART, rank, 5 * (size_t)ndims);

	if (!t)
		return NULL;
	int *words = t->words;
	t->ndims = ndims;
	t->dims = put(&words, dims, ndims);
	t->periods = put(&words, periods, ndims);
	t->coords = put(&words, NULL, ndims);
	ztopo_coords_of(t, rank, ndims, t->coords);
	t->indegree = t->outdegree = 2 * ndims;
	t->source = t->target = put(&words, NULL, 2 * ndims);
	for (int d = 0; d < ndims; d++) {
		t->periods[d] = periods[d] != 0;
		t->source[2 * d] = ztopo_neighbour(t, d, -1);
		t->source[2 * d + 1] = ztopo_neighbour(t, d, 1);
	}
	return finish(t);
}

struct ztopo *ztopo_graph(int nnodes, const int index[], const int edges[], int rank)
{
	int nedges = nnodes > 0 ? index[nnodes - 1] : 0, first = rank > 0 && rank < nnodes ? index[rank - 1] : 0;
	struct ztopo *t = make(MPI_GRAPH, rank, (size_t)nnodes + (size_t)nedges);

	if (!t)
		return NULL;
	int *words = t->words;
	t->nnodes = nnodes;
	t->nedges = nedges;
	t->index = put(&words, index, nnodes);
	t->edges = put(&words, edges, nedges);
	t->indegree = t->outdegree = rank < nnodes ? index[rank] - first : 0;
	t->source = t->target = t->edges + first;
	return finish(t);
}

struct ztopo *ztopo_dist_graph(int indegree, const int source[], const int source_weight[], int outdegree,
	const int target[], const int target_weight[], bool weighted, int rank)
{
	struct ztopo *t = make(MPI_DIST_GRAPH, rank, 2 * ((size_t)indegree + (size_t)outdegree));

	if (!t)
		return NULL;
	int *words = t->words;
	t->indegree = indegree;
	t->outdegree = outdegree;
	t->source = put(&words, source, indegree);
	t->target = put(&words, target, outdegree);
	t->weighted = weighted;
	if (t->weighted) {
		t->source_weight = put(&words, source_weight, indegree);
		t->target_weight = put(&words, target_weight, outdegree);
	}
	return finish(t);
}

struct ztopo *ztopo_ref(struct ztopo *t)
{
	if (t)
		t->refs++;
	return t;
}

void ztopo_unref(struct ztopo *t)
{
	if (t && --t->refs == 0)
		free(t);
}

/* --- on native communicators --- */

static int make_native(const struct ztopo *t, MPI_Comm from, MPI_Comm *made)
{
	switch (t->kind) {
	case MPI_CART:
		return zn.Cart_create(from, t->ndims, t->dims, t->periods, 0, made);
	case MPI_GRAPH:
		return zn.Graph_create(from, t->nnodes, t->index, t->edges, 0, made);
	default:
		return zn.Dist_graph_create_adjacent(from, t->indegree, t->source,
			t->weighted ? t->source_weight : zresolve_unweighted(), t->outdegree, t->target,
			t->weighted ? t->target_weight : zresolve_unweighted(), MPI_INFO_NULL, 0, made);
	}
}

/* The local neighbours, as ranks among the local members. */
static int select_local(const int *of, int n, const int *local_rank, int *selected)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		if (of[i] != MPI_PROC_NULL && local_rank[of[i]] >= 0)
			selected[count++] = local_rank[of[i]];
	return count;
}

/* The edges get weights, because MPICH 3.4.1 ends the job when it duplicates a graph that has edges and no weights. */
static int make_local_graph(const struct ztopo *t, const int vrank[], int n, MPI_Comm from, MPI_Comm *made)
{
	int degree = t->indegree > t->outdegree ? t->indegree : t->outdegree;
	size_t words = (size_t)n + 3 * (size_t)(degree + 1);
	int *local_rank = malloc(words * sizeof(int)), count = 0;

	if (!local_rank)
		return MPI_ERR_NO_MEM;
	int *in = local_rank + n, *out = in + degree + 1, *weight = out + degree + 1;
	for (int i = 0; i <= degree; i++)
		weight[i] = 1;
	for (int r = 0; r < n; r++)
		local_rank[r] = zworld_is_local(vrank[r]) ? count++ : -1;
	int nin = select_local(t->source, t->indegree, local_rank, in);
	int nout = select_local(t->target, t->outdegree, local_rank, out);
	int rc = zn.Dist_graph_create_adjacent(from, nin, in, weight, nout, out, weight, MPI_INFO_NULL, 0, made);
	free(local_rank);
	return rc;
}

int ztopo_on_native(const struct ztopo *t, const int vrank[], int n, MPI_Comm from, MPI_Comm *made)
{
	bool all = true;

	for (int r = 0; r < n; r++)
		all &= zworld_is_local(vrank[r]);
	*made = MPI_COMM_NULL;
	zshim_block_begin();
	int rc = all ? make_native(t, from, made) : make_local_graph(t, vrank, n, from, made);
	zshim_block_end();
	if (rc != MPI_SUCCESS)
		*made = MPI_COMM_NULL;
	return rc;
}
