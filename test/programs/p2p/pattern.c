/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: pattern ring|chain|tree|stencil|cg|vertex-cut|edge-cut|all BYTES ROUNDS [hidden]. Every rank sends that much
 * to each of its neighbours in each round, and checks what it gets. vertex-cut, edge-cut: the classes of applications
 * in section 2.2 of the thesis. Two halves in which all talk to all have two ranks in common, or two pairs of ranks
 * talk between them. cg: to those of a chain, and a sum of doubles goes along it and back twice, as the dot products of
 * conjugate gradients. hidden: neighbours do not follow the ranks. Prints the time of a round at the end. For comparing
 * what a map predicts with what happens. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEERS_MAX 64
#define WARM_UP 5 /* rounds that are not timed: ranks meet in them */
#define TAG_SUM 30000

static int hidden;

/* The place that a rank has in the pattern. */
static int place(int rank, int n)
{
	return hidden ? (rank * (n % 3 ? 3 : n % 5 ? 5 : 7) + 1) % n : rank;
}

static int neighbours(const char *pattern, int rank, int n, int *to)
{
	int k = 0, r = place(rank, n);

	for (int other = 0; other < n; other++) {
		int v = place(other, n), low = r < v ? r : v, high = r < v ? v : r, yes;

		if (!strcmp(pattern, "ring"))
			yes = high == low + 1 || high - low == n - 1;
		else if (!strcmp(pattern, "chain") || !strcmp(pattern, "cg"))
			yes = high == low + 1;
		else if (!strcmp(pattern, "tree"))
			yes = (high - 1) / 2 == low;
		else if (!strcmp(pattern, "stencil")) /* two ranks high */
			yes = high == low + 2 || (high == low + 1 && high % 2);
		else if (!strcmp(pattern, "vertex-cut")) /* the first two ranks are in both halves */
			yes = low < 2 || (low < 2 + (n - 2) / 2) == (high < 2 + (n - 2) / 2);
		else if (!strcmp(pattern, "edge-cut"))
			yes = (low < n / 2) == (high < n / 2) || (low >= n / 2 - 2 && low + high == n / 2 * 2 - 1);
		else
			yes = 1;
		if (yes && v != r)
			to[k++] = other;
	}
	return k;
}

/* The sum over the chain, known to all of it. before, behind: neighbours or MPI_PROC_NULL. */
static double chain_sum(double mine, int before, int behind)
{
	double sum = 0;

	MPI_Recv(&sum, 1, MPI_DOUBLE, before, TAG_SUM, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sum += mine;
	MPI_Send(&sum, 1, MPI_DOUBLE, behind, TAG_SUM, MPI_COMM_WORLD);
	MPI_Recv(&sum, 1, MPI_DOUBLE, behind, TAG_SUM, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&sum, 1, MPI_DOUBLE, before, TAG_SUM, MPI_COMM_WORLD);
	return sum;
}

static void dot_products(int rank, int size, const int *to, int k)
{
	int at[2] = {MPI_PROC_NULL, MPI_PROC_NULL};

	for (int j = 0; j < k; j++)
		at[place(to[j], size) > place(rank, size)] = to[j];
	for (int i = 0; i < 2; i++)
		if (chain_sum(rank + i, at[0], at[1]) != size * (size - 1) / 2 + size * i) {
			printf("the sum over the chain is wrong in rank %d\n", rank);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
}

static void exchange(int rank, int round, const int *to, int k, size_t bytes, char *out, char *in)
{
	MPI_Request request[2 * PEERS_MAX];

	memset(out, rank + round, bytes);
	for (int j = 0; j < k; j++)
		MPI_Irecv(in + (size_t)j * bytes, (int)bytes, MPI_BYTE, to[j], round, MPI_COMM_WORLD, &request[j]);
	for (int j = 0; j < k; j++)
		MPI_Isend(out, (int)bytes, MPI_BYTE, to[j], round, MPI_COMM_WORLD, &request[k + j]);
	MPI_Waitall(2 * k, request, MPI_STATUSES_IGNORE);
	for (int j = 0; j < k; j++) {
		const char *got = in + (size_t)j * bytes;

		if (got[0] != (char)(to[j] + round) || memcmp(got, got + 1, bytes - 1)) {
			printf("round %d: what %d sent to %d is wrong\n", round, to[j], rank);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
	}
}

int main(int argc, char **argv)
{
	int rank, size, to[PEERS_MAX], k, bytes, rounds;
	char *out, *in;
	double begin = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	bytes = argc > 3 ? atoi(argv[2]) : 0;
	rounds = argc > 3 ? atoi(argv[3]) : 0;
	if (size > PEERS_MAX || bytes < 1)
		MPI_Abort(MPI_COMM_WORLD, 2);
	hidden = argc > 4;
	k = neighbours(argv[1], rank, size, to);
	out = malloc((size_t)bytes);
	in = malloc((size_t)bytes * (size_t)(k + 1));
	if (!out || !in)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 0; i < rounds; i++) {
		if (i == WARM_UP)
			begin = MPI_Wtime();
		exchange(rank, i, to, k, (size_t)bytes, out, in);
		if (!strcmp(argv[1], "cg"))
			dot_products(rank, size, to, k);
	}
	/* neighbours wait for each other in every round, so that all need the same time, and no rank has to ask */
	if (rank == 0 && rounds > WARM_UP)
		printf("%s%s %d B, us a round: %.1f\n", argv[1], hidden ? " hidden" : "", bytes,
			1e6 * (MPI_Wtime() - begin) / (rounds - WARM_UP));
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
