/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Dist_graph_create_adjacent, in which each rank says its own neighbours, and MPI_Dist_graph_create, in which each
 * rank says any edges. In the latter both ends of each edge are sent to the ranks at these ends.
 */
#include <stdlib.h>

#include "libzip/coll/alltoall.h"
#include "libzip/world/error.h"
#include "libzip/shim/resolve.h"
#include "libzip/comm/topo_make.h"

static int check_ranks(const struct zcomm *c, const int ranks[], int n, const char *what, const char *name)
{
	if (n < 0 || (n > 0 && !ranks))
		return zerror_raise(c, MPI_ERR_ARG, name, "%d %s", n, what);
	for (int i = 0; i < n; i++)
		if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= c->size))
			return zerror_raise(c, MPI_ERR_RANK, name, "%s[%d] is %d, and the communicator has %d ranks",
				what, i, ranks[i], c->size);
	return MPI_SUCCESS;
}

int zip_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
	int outdegree, const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Dist_graph_create_adjacent";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c)
		ZTOPO_RETURN_NATIVE(comm, zn.Dist_graph_create_adjacent(comm, indegree, sources, sourceweights,
						  outdegree, destinations, destweights, info, reorder, newcomm));
	if (c->local)
		return zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator");
	int rc = check_ranks(c, sources, indegree, "sources", name);
	if (rc == MPI_SUCCESS)
		rc = check_ranks(c, destinations, outdegree, "destinations", name);
	if (rc != MPI_SUCCESS)
		return rc;
	bool weighted = sourceweights != zresolve_unweighted();
	if (weighted != (destweights != zresolve_unweighted()))
		return zerror_raise(c, MPI_ERR_TOPOLOGY, name, "only one of the weights is MPI_UNWEIGHTED");
	if (weighted && ((indegree > 0 && !sourceweights) || (outdegree > 0 && !destweights)))
		return zerror_raise(c, MPI_ERR_ARG, name, "no weights");
	struct ztopo *t = ztopo_dist_graph(indegree, sources, sourceweights, outdegree, destinations, destweights,
		weighted, c->rank);
	return ztopo_make(c, 0, c->rank, t, name, newcomm);
}

/* One end of an edge, for the rank at this end. */
struct edge_end {
	int64_t is_source, neighbour, weight; /* is_source: the neighbour is the one that sends */
};
#define END_WORDS ((MPI_Count)(sizeof(struct edge_end) / sizeof(int64_t)))

/* The edges that one rank says. */
struct piece {
	int n;
	const int *sources, *degrees, *destinations, *weights; /* weights NULL: none */
};

static int check_piece(const struct zcomm *c, const struct piece *p, const char *name)
{
	int rc = check_ranks(c, p->sources, p->n, "sources", name);
	long total = 0;
	if (rc == MPI_SUCCESS && p->n > 0 && !p->degrees)
		rc = zerror_raise(c, MPI_ERR_ARG, name, "no degrees");
	for (int i = 0; i < p->n && rc == MPI_SUCCESS; i++) {
		total += p->degrees[i];
		if (p->degrees[i] < 0 || p->sources[i] < 0 || total > INT32_MAX)
			rc = zerror_raise(c, MPI_ERR_ARG, name, "sources[%d] is %d with %d destinations", i,
				p->sources[i], p->degrees[i]);
	}
	if (rc == MPI_SUCCESS)
		rc = check_ranks(c, p->destinations, (int)total, "destinations", name);
	for (long i = 0; i < total && rc == MPI_SUCCESS; i++)
		if (p->destinations[i] < 0)
			rc = zerror_raise(c, MPI_ERR_RANK, name, "destinations[%ld] is %d", i, p->destinations[i]);
	if (rc == MPI_SUCCESS && total > 0 && p->weights != zresolve_unweighted() && !p->weights)
		rc = zerror_raise(c, MPI_ERR_ARG, name, "no weights");
	return rc;
}

/* Puts both ends of each edge behind the earlier ones for the same rank. ends NULL: only counts them. */
static void lay_out(const struct piece *p, bool weighted, MPI_Count *next, struct edge_end *ends)
{
	int at = 0;
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < p->degrees[i]; k++, at++) {
			int from = p->sources[i], to = p->destinations[at];
			int64_t weight = weighted ? p->weights[at] : 1;
			MPI_Count out = next[from]++, in = next[to]++;
			if (ends) {
				ends[out] = (struct edge_end){.is_source = false, .neighbour = to, .weight = weight};
				ends[in] = (struct edge_end){.is_source = true, .neighbour = from, .weight = weight};
			}
		}
}

/* begin[r] is the number of ends before those of rank r. Returns the number of all ends. */
static MPI_Aint prefix(const MPI_Count *counts, int n, MPI_Aint *begin)
{
	MPI_Aint total = 0;
	for (int r = 0; r < n; r++) {
		begin[r] = total;
		total += counts[r];
	}
	return total;
}

static struct ztopo *from_ends(const struct edge_end *ends, MPI_Count n, bool weighted, int rank)
{
	int *words = malloc((4 * (size_t)n + 1) * sizeof *words), in = 0, out = 0;
	if (!words)
		return NULL;
	int *source = words, *target = source + n, *source_weight = target + n, *target_weight = source_weight + n;
	for (MPI_Count i = 0; i < n; i++) {
		const struct edge_end *e = &ends[i];
		int at = e->is_source ? in++ : out++;
		(e->is_source ? source : target)[at] = (int)e->neighbour;
		(e->is_source ? source_weight : target_weight)[at] = (int)e->weight;
	}
	struct ztopo *t = ztopo_dist_graph(in, source, source_weight, out, target, target_weight, weighted, rank);
	free(words);
	return t;
}

/* Collects all ends that are mine, in the order of the ranks that said them. NULL: an error, whose code is in *rc. */
static struct ztopo *collect(struct zcomm *c, const struct piece *p, bool weighted, int *rc)
{
	size_t n = (size_t)c->size;
	MPI_Count *counts = calloc(3 * n, sizeof *counts);
	MPI_Aint *displs = calloc(2 * n, sizeof *displs);
	struct edge_end *ends = NULL, *mine = NULL;
	struct ztopo *t = NULL;
	*rc = MPI_ERR_NO_MEM;
	if (!counts || !displs)
		goto out;
	MPI_Count *const theirs = counts + n, *const next = theirs + n;
	MPI_Aint *const their_displs = displs + n;
	lay_out(p, weighted, counts, NULL);
	ends = malloc(((size_t)prefix(counts, c->size, displs) + 1) * sizeof *ends);
	for (int r = 0; r < c->size; r++)
		next[r] = displs[r];
	*rc = zcoll_run(c, &(struct zcoll){.name = "MPI_Alltoall",
				   .build = zalltoall_build,
				   .sendbuf = counts,
				   .sendcount = 1,
				   .sendtype = MPI_INT64_T,
				   .recvbuf = theirs,
				   .recvcount = 1,
				   .recvtype = MPI_INT64_T});
	if (*rc != MPI_SUCCESS || !ends)
		goto out;
	lay_out(p, weighted, next, ends);
	MPI_Aint total = prefix(theirs, c->size, their_displs);
	mine = malloc(((size_t)total + 1) * sizeof *mine);
	for (int r = 0; r < c->size; r++) {
		counts[r] *= END_WORDS;
		theirs[r] *= END_WORDS;
		displs[r] *= END_WORDS;
		their_displs[r] *= END_WORDS;
	}
	if (mine)
		*rc = zcoll_run(c, &(struct zcoll){.name = "MPI_Alltoallv",
					   .build = zalltoall_build,
					   .vector = true,
					   .sendbuf = ends,
					   .sendcounts = ZVEC(counts),
					   .sdispls = ZVEC(displs),
					   .sendtype = MPI_INT64_T,
					   .recvbuf = mine,
					   .recvcounts = ZVEC(theirs),
					   .rdispls = ZVEC(their_displs),
					   .recvtype = MPI_INT64_T});
	if (mine && *rc == MPI_SUCCESS)
		t = from_ends(mine, total, weighted, c->rank);
out:
	free(counts);
	free(displs);
	free(ends);
	free(mine);
	return t;
}

int zip_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
	const int weights[], MPI_Info info, int reorder, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Dist_graph_create";
	const struct piece p = {n, sources, degrees, destinations, weights};
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c)
		ZTOPO_RETURN_NATIVE(comm,
			zn.Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm));
	int rc = c->local ? zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator")
			  : check_piece(c, &p, name);
	if (rc != MPI_SUCCESS)
		return rc;
	struct ztopo *t = collect(c, &p, weights != zresolve_unweighted(), &rc);
	if (!t && rc != MPI_SUCCESS && rc != MPI_ERR_NO_MEM)
		return rc; /* has been raised */
	return ztopo_make(c, 0, c->rank, t, name, newcomm);
}
