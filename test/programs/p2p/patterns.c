/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with a known communication graph, for recording, mapping and comparing placements:
 *
 *     patterns NAME [ROUNDS [BYTES [SHUFFLE]]]
 *
 *   ring      each place sends to the next one
 *   chain     to the next and the previous one: the cut is one edge, or one vertex, at any place
 *   stencil   to the neighbours on a grid that is as square as can be, not periodic
 *   tree      to parent and children in a binary tree: every inner vertex is a cut
 *   cg        a chain, and two sums of all (8 bytes) a round, as conjugate gradients have
 *   alltoall  MPI_Alltoall: there is no cut
 *
 * ROUNDS rounds of BYTES bytes (defaults 10 and 1000). Places are ranks; with SHUFFLE they are permuted, the same in
 * every run, so that neighbours are not neighbouring ranks. Arriving data are checked. Rank 0 prints the sums of all
 * sends: lines "p2p|collective FROM TO BYTES MESSAGES", collectives as zipmap.graph(5) decomposes them.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS_MAX 4

static int n, rank, rounds = 10, bytes = 1000;
static int *place_of, *rank_of; /* the permutation, and back */

/* --- the graphs: neighbours of a place --- */

static int ring(int place, int *to)
{
	to[0] = (place + 1) % n;
	return n > 1;
}

static int chain(int place, int *to)
{
	int count = 0;

	if (place > 0)
		to[count++] = place - 1;
	if (place < n - 1)
		to[count++] = place + 1;
	return count;
}

static int stencil(int place, int *to)
{
	int columns = 1, count = 0;

	for (int c = 1; c * c <= n; c++)
		if (n % c == 0)
			columns = c;
	if (place >= columns)
		to[count++] = place - columns;
	if (place % columns)
		to[count++] = place - 1;
	if (place % columns < columns - 1)
		to[count++] = place + 1;
	if (place + columns < n)
		to[count++] = place + columns;
	return count;
}

static int tree(int place, int *to)
{
	int count = 0;

	if (place > 0)
		to[count++] = (place - 1) / 2;
	for (int child = 2 * place + 1; child <= 2 * place + 2 && child < n; child++)
		to[count++] = child;
	return count;
}

static int none(int place, int *to)
{
	(void)place;
	(void)to;
	return 0;
}

static const struct pattern {
	const char *name;
	int (*neighbours)(int place, int *to);
	int sums, alltoalls; /* a round */
} patterns[] = {
	{"ring", ring, 0, 0},
	{"chain", chain, 0, 0},
	{"stencil", stencil, 0, 0},
	{"tree", tree, 0, 0},
	{"cg", chain, 2, 0},
	{"alltoall", none, 0, 1},
};

/* --- what is sent, from the definitions --- */

static void print_sums(int from, int calls)
{
	/* to the parent and from it, in a binomial tree from rank 0 */
	for (int to = 0; to < n; to++)
		if ((from && to == (from & (from - 1))) || (to && from == (to & (to - 1))))
			printf("collective %d %d %d %d\n", from, to, 8 * calls, calls);
}

static void print_graph(const struct pattern *p)
{
	for (int from = 0; from < n; from++) {
		int to[NEIGHBOURS_MAX], count = p->neighbours(place_of[from], to);

		for (int i = 0; i < count; i++)
			printf("p2p %d %d %lld %d\n", from, rank_of[to[i]], (long long)bytes * rounds, rounds);
		if (p->sums)
			print_sums(from, p->sums * rounds);
		for (int i = 0; p->alltoalls && i < n; i++)
			if (i != from)
				printf("collective %d %d %lld %d\n", from, i, (long long)bytes * rounds, rounds);
	}
}

/* --- doing it --- */

static void check(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "rank %d: wrong %s\n", rank, what);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

/* Which places send to me: those that have me as a neighbour. */
static int sources(const struct pattern *p, int *from)
{
	int to[NEIGHBOURS_MAX], count = 0;

	for (int place = 0; place < n; place++)
		for (int i = 0, k = p->neighbours(place, to); i < k; i++)
			if (to[i] == place_of[rank])
				from[count++] = rank_of[place];
	return count;
}

static void neighbour_round(const struct pattern *p, int round, char *out, char *in)
{
	int to[NEIGHBOURS_MAX], from[NEIGHBOURS_MAX], nto = p->neighbours(place_of[rank], to), nfrom = sources(p, from);
	MPI_Request request[2 * NEIGHBOURS_MAX];

	memset(out, (rank + round) % 100, (size_t)bytes);
	for (int i = 0; i < nfrom; i++)
		MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_CHAR, from[i], round % 1000, MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < nto; i++)
		MPI_Isend(out, bytes, MPI_CHAR, rank_of[to[i]], round % 1000, MPI_COMM_WORLD, &request[nfrom + i]);
	MPI_Waitall(nfrom + nto, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < nfrom; i++)
		for (int k = 0; k < bytes; k++)
			check(in[(size_t)i * bytes + k] == (from[i] + round) % 100, "message");
}

static void alltoall_round(int round, char *out, char *in)
{
	for (int i = 0; i < n; i++)
		memset(out + (size_t)i * bytes, (rank + 2 * i + round) % 100, (size_t)bytes);
	MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
	for (int i = 0; i < n && bytes > 0; i++)
		check(in[(size_t)i * bytes] == (i + 2 * rank + round) % 100, "block");
}

static void shuffle(unsigned seed)
{
	uint64_t state = seed;

	for (int i = n - 1; i > 0 && seed; i--) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		int j = (int)((state >> 33) % (uint64_t)(i + 1)), t = place_of[i];
		place_of[i] = place_of[j];
		place_of[j] = t;
	}
	for (int i = 0; i < n; i++)
		rank_of[place_of[i]] = i;
}

int main(int argc, char **argv)
{
	const struct pattern *p = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (size_t i = 0; argc > 1 && i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!strcmp(argv[1], patterns[i].name))
			p = &patterns[i];
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		bytes = atoi(argv[3]);
	if (!p || rounds < 1 || bytes < 1) {
		if (rank == 0)
			fprintf(stderr,
				"usage: patterns ring|chain|stencil|tree|cg|alltoall [ROUNDS [BYTES [SHUFFLE]]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
		return 2;
	}
	place_of = malloc((size_t)n * sizeof(int));
	rank_of = malloc((size_t)n * sizeof(int));
	char *out = malloc((size_t)bytes * (size_t)(n + 1)), *in = malloc((size_t)bytes * (size_t)(n + NEIGHBOURS_MAX));
	check(place_of && rank_of && out && in, "size: no memory");
	for (int i = 0; i < n; i++)
		place_of[i] = i;
	shuffle(argc > 4 ? (unsigned)atoi(argv[4]) : 0);
	for (int round = 0; round < rounds; round++) {
		if (p->neighbours != none)
			neighbour_round(p, round, out, in);
		for (int i = 0; i < p->sums; i++) {
			double mine = rank, sum;
			MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			check(sum == n * (n - 1) / 2.0, "sum");
		}
		for (int i = 0; i < p->alltoalls; i++)
			alltoall_round(round, out, in);
	}
	if (rank == 0)
		print_graph(p);
	free(place_of);
	free(rank_of);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
