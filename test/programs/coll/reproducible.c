/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of floating-point numbers that round: all ranks get the same bits, and the same ones again in every
 * repetition. With an argument their checksum is printed too, which depends on the placement.
 * twin: timeout=60 ranks=5 layouts=2+3,1+4,4+1,1+1+3 */
#include "coll_comms.h"

#define LONG 30000

static double mine[LONG], result[LONG], again[LONG];

static unsigned long checksum(const double *x, int n)
{
	const unsigned char *p = (const unsigned char *)x;
	unsigned long hash = 14695981039346656037ul;
	for (size_t i = 0; i < (size_t)n * sizeof *x; i++)
		hash = (hash ^ p[i]) * 1099511628211ul;
	return hash;
}

/* Large and small numbers of both signs: every order of adding them rounds differently. */
static void fill_mine(int n)
{
	for (int i = 0; i < n; i++)
		mine[i] = ((i * 7 + me * 13) % 11 - 5) * (me % 2 ? 1e15 : 0.1) / (1 + (i + me) % 7);
}

static void sums(int n, MPI_Op op, int print)
{
	unsigned long sum, low, high;
	fill_mine(n);
	MPI_Allreduce(mine, result, n, MPI_DOUBLE, op, comm);
	sum = checksum(result, n);
	MPI_Allreduce(&sum, &low, 1, MPI_UNSIGNED_LONG, MPI_MIN, comm);
	MPI_Allreduce(&sum, &high, 1, MPI_UNSIGNED_LONG, MPI_MAX, comm);
	CHECK_INT(low == high, 1);
	for (int i = 0; i < 2; i++) {
		memcpy(again, mine, sizeof mine);
		MPI_Allreduce(MPI_IN_PLACE, again, n, MPI_DOUBLE, op, comm);
		CHECK_INT(checksum(again, n) == sum, 1);
	}
	if (print && me == 0)
		printf("%d: %016lx\n", n, sum);
	MPI_Reduce(mine, result, n, MPI_DOUBLE, op, np - 1, comm);
	MPI_Reduce(mine, again, n, MPI_DOUBLE, op, np - 1, comm);
	CHECK_INT(me != np - 1 || checksum(again, n) == checksum(result, n), 1);
	if (print && me == np - 1)
		printf("%d: at its root %016lx\n", n, checksum(result, n));
}

/* A sum in pieces of uneven sizes: with an argument the checksum of each rank's, which does not depend on segments. */
static void pieces(int n, int print)
{
	int counts[64], first = 0, left = n;
	unsigned long sum;
	for (int r = 0; r < np; r++) {
		counts[r] = r == np - 1 ? left : r % 2 ? left / (np - r) : left / (np - r + 1);
		left -= counts[r];
		first += r < me ? counts[r] : 0;
	}
	fill_mine(n);
	MPI_Reduce_scatter(mine, result, counts, MPI_DOUBLE, MPI_SUM, comm);
	sum = checksum(result, counts[me]);
	for (int i = 0; i < 2; i++) {
		memcpy(again, mine, sizeof mine);
		MPI_Reduce_scatter(MPI_IN_PLACE, again, counts, MPI_DOUBLE, MPI_SUM, comm);
		CHECK_INT(checksum(again, counts[me]) == sum, 1);
	}
	MPI_Reduce(mine, result, n, MPI_DOUBLE, MPI_MAX, 0, comm); /* and right, except for rounding */
	MPI_Bcast(result, n, MPI_DOUBLE, 0, comm);
	for (int i = 0; i < counts[me]; i++)
		CHECK(again[i] <= (np + 0.5) * (result[first + i] > 0 ? result[first + i] : 0) + 1e-9, "element %d", i);
	if (print)
		printf("pieces of %d: %d of %d: %016lx\n", n, me, np, sum);
}

#define SMALL 200 /* doubles: less than the least that is gathered */

/* Of all kinds of reductions. */
static unsigned long sums_and_scans(MPI_Comm on)
{
	double all[4 * SMALL] = {0};
	for (int i = 0; i < SMALL; i++)
		mine[i] = 0.1 * (me + 1) * (me * me + i + 1) + 1.0 / (3 + me * 7 + i);
	MPI_Allreduce(mine, all, SMALL, MPI_DOUBLE, MPI_SUM, on);
	MPI_Reduce(mine, all + SMALL, SMALL, MPI_DOUBLE, MPI_SUM, 0, on);
	MPI_Scan(mine, all + 2 * SMALL, SMALL, MPI_DOUBLE, MPI_SUM, on);
	memcpy(all + 3 * SMALL, mine, SMALL * sizeof *mine);
	MPI_Exscan(MPI_IN_PLACE, all + 3 * SMALL, SMALL, MPI_DOUBLE, MPI_SUM, on);
	if (me == 0)
		memset(all + 3 * SMALL, 0, SMALL * sizeof *mine); /* not defined there */
	return checksum(all, 4 * SMALL);
}

/* Other live communicators do not matter: shared memory serves only some communicators at a time. */
static void among_many(void)
{
	MPI_Comm held[70], x;
	MPI_Comm_rank(WORLD, &me);
	unsigned long before = sums_and_scans(WORLD);
	for (int i = 0; i < 70; i++)
		MPI_Comm_dup(WORLD, &held[i]);
	MPI_Comm_dup(WORLD, &x);
	CHECK_INT(sums_and_scans(x) == before, 1);
	CHECK_INT(sums_and_scans(held[0]) == before, 1);
	MPI_Comm_free(&x);
	for (int i = 0; i < 70; i++)
		MPI_Comm_free(&held[i]);
}

int main(int argc, char **argv)
{
	const int counts[] = {1, 3, 100, 257, 5000, LONG};
	begin(&argc, &argv);
	make_comms();
	for (int i = 0; i < COMMS; i++) {
		int before = errors;
		if (!use_comm(i))
			continue;
		for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
			sums(counts[c], c % 2 ? MPI_PROD : MPI_SUM, argc > 1);
		for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
			pieces(counts[c], argc > 1);
		printf("rank %d: %s: %d errors\n", rank, comm_names[i], errors - before);
	}
	free_comms();
	among_many();
	return end();
}
