/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs that all ranks know, and graphs of which each rank knows a piece, with weights and without. twin: ranks=5
 * layouts=2+3,1+4,4+1,1+2+2
 */
#include "../check.h"

static void show_graph(const char *what, MPI_Comm c)
{
	int kind, nnodes, nedges, n, index[8], edges[32];
	char line[600];
	if (c == MPI_COMM_NULL) {
		printf("rank %d: %s: none\n", rank, what);
		return;
	}
	MPI_Topo_test(c, &kind);
	CHECK_INT(kind, MPI_GRAPH);
	MPI_Graphdims_get(c, &nnodes, &nedges);
	MPI_Graph_get(c, 8, 32, index, edges);
	int used = snprintf(line, sizeof line, "rank %d: %s: %d nodes:", rank, what, nnodes);
	for (int i = 0, at = 0; i < nnodes; i++) {
		int near[32];
		MPI_Graph_neighbors_count(c, i, &n);
		CHECK_INT(n, index[i] - at);
		MPI_Graph_neighbors(c, i, 32, near);
		used += sprintf(line + used, " (");
		for (int k = 0; k < n; k++) {
			used += sprintf(line + used, " %d", near[k]);
			CHECK_INT(near[k], edges[at + k]);
		}
		used += sprintf(line + used, " )");
		at = index[i];
	}
	fputs(strcat(line, "\n"), stdout); /* one write(2), not two as puts */
}

static void graph(const char *what, int nnodes, const int *index, const int *edges)
{
	MPI_Comm c, dup;
	MPI_Graph_create(WORLD, nnodes, index, edges, 1, &c);
	show_graph(what, c);
	if (c == MPI_COMM_NULL)
		return;
	MPI_Comm_dup(c, &dup);
	MPI_Comm_free(&c);
	show_graph(what, dup);
	MPI_Comm_free(&dup);
}

struct edge {
	int rank, weight;
};
static int compare(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	return x->rank != y->rank ? x->rank - y->rank : x->weight - y->weight;
}

/* The library chooses the order of neighbours in a graph of MPI_Dist_graph_create. */
static int put_sorted(char *line, const char *what, const int *ranks, const int *weights, int n)
{
	struct edge e[64];
	for (int i = 0; i < n; i++)
		e[i] = (struct edge){ranks[i], weights[i]};
	qsort(e, (size_t)n, sizeof e[0], compare);
	int used = sprintf(line, " %s", what);
	for (int i = 0; i < n; i++)
		used += sprintf(line + used, " %d:%d", e[i].rank, e[i].weight);
	return used;
}

static void show_dist(const char *what, MPI_Comm c)
{
	int kind, in, out, weighted, from[64], to[64], from_weight[64], to_weight[64];
	char line[2000];
	MPI_Topo_test(c, &kind);
	CHECK_INT(kind, MPI_DIST_GRAPH);
	MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
	for (int i = 0; i < 64; i++)
		from_weight[i] = to_weight[i] = -9;
	MPI_Dist_graph_neighbors(c, in, from, weighted ? from_weight : MPI_UNWEIGHTED, out, to,
		weighted ? to_weight : MPI_UNWEIGHTED);
	int used = snprintf(line, sizeof line, "rank %d: %s: %d in, %d out, %s,", rank, what, in, out,
		weighted ? "weighted" : "unweighted");
	used += put_sorted(line + used, "from", from, from_weight, in);
	put_sorted(line + used, "to", to, to_weight, out);
	fputs(strcat(line, "\n"), stdout); /* one write(2), not two as puts */
}

static void dist(const char *what, MPI_Comm c)
{
	MPI_Comm dup;
	show_dist(what, c);
	MPI_Comm_dup(c, &dup);
	MPI_Comm_free(&c);
	show_dist(what, dup);
	MPI_Comm_free(&dup);
}

/* Edges that anybody may tell: rank r tells those of rank r + 1, to all but one, and some twice. */
static void anybody(int weights)
{
	int source[2] = {(rank + 1) % size, (rank + 3) % size}, degree[2] = {size - 1, rank % 3}, to[64], weight[64],
	    n = 0;
	MPI_Comm c;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < degree[i]; k++, n++) {
			to[n] = (source[i] + k * k) % size;
			weight[n] = 10 * rank + n;
		}
	MPI_Dist_graph_create(WORLD, 2, source, degree, to, weights ? weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &c);
	dist(weights ? "told by anybody, weighted" : "told by anybody", c);
	/* one rank tells all */
	int all[8], degrees[8], ring[8];
	for (int r = 0; r < size; r++) {
		all[r] = r;
		degrees[r] = 1;
		ring[r] = (r + 1) % size;
		weight[r] = 100 + r;
	}
	MPI_Dist_graph_create(WORLD, rank == 2 ? size : 0, all, degrees, ring,
		!weights    ? MPI_UNWEIGHTED
		: rank == 2 ? weight
			    : MPI_WEIGHTS_EMPTY,
		MPI_INFO_NULL, 0, &c);
	dist(weights ? "told by one, weighted" : "told by one", c);
}

static void adjacent(void)
{
	int near[3] = {(rank + 1) % size, (rank + size - 1) % size, rank}, weight[3] = {rank, 2 * rank, 3}, next[1],
	    before[1];
	MPI_Comm c;
	MPI_Dist_graph_create_adjacent(WORLD, 3, near, MPI_UNWEIGHTED, 3, near, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	dist("ring with oneself", c);
	MPI_Dist_graph_create_adjacent(WORLD, 3, near, weight, 3, near, weight, MPI_INFO_NULL, 1, &c);
	dist("weighted ring", c);
	next[0] = size - 1;
	before[0] = 0;
	MPI_Dist_graph_create_adjacent(WORLD, rank == size - 1, before, rank == size - 1 ? weight : MPI_WEIGHTS_EMPTY,
		rank == 0, next, rank == 0 ? weight : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c);
	dist("a single edge", c);
	MPI_Dist_graph_create_adjacent(WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	dist("no edge", c);
}

#define WRONG(call) printf("rank %d: %s: class %d\n", rank, #call, class_of(call))

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int index[] = {2, 4, 6, 8, 10}, ring[] = {1, 4, 2, 0, 3, 1, 4, 2, 0, 3}, star_index[] = {4, 5, 6, 7, 8},
		  star[] = {1, 2, 3, 4, 0, 0, 0, 0}, few_index[] = {1, 2, 2}, few[] = {1, 0};
	int to;
	graph("ring", 5, index, ring);
	graph("star", 5, star_index, star);
	graph("few", 3, few_index, few);
	graph("nothing", 0, index, ring);
	anybody(0);
	anybody(1);
	adjacent();
	MPI_Graph_map(WORLD, 3, few_index, few, &to);
	printf("rank %d: mapped to %d\n", rank, to == MPI_UNDEFINED ? -1 : to);

	MPI_Comm made = MPI_COMM_NULL, c;
	int n, m;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	WRONG(MPI_Graph_create(WORLD, 6, index, ring, 0, &made));
	WRONG(MPI_Graph_neighbors_count(WORLD, 0, &n));
	WRONG(MPI_Graph_get(WORLD, 8, 8, &n, &m));
	WRONG(MPI_Dist_graph_neighbors_count(WORLD, &n, &m, &to));
	MPI_Graph_create(WORLD, 5, index, ring, 0, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	WRONG(MPI_Graph_neighbors_count(c, 5, &n));
	WRONG(MPI_Graph_neighbors_count(c, -1, &n));
	WRONG(MPI_Cartdim_get(c, &n));
	WRONG(MPI_Cart_sub(c, index, &made));
	MPI_Comm_free(&c);
	return end();
}
