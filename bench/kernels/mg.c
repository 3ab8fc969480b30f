/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MG, multigrid: V-cycles for -div grad u + C u = f on a periodic cube of n^3 points, n a power of two. Each rank has
 * some planes. A plane of a coarse grid belongs to the rank that has the plane of the fine grid in the same place. So
 * ranks stand in a ring, on the coarse grids with gaps, and planes go to neighbours in the ring before each step.
 *
 * Right numbers: f is made from a known solution, and each cycle reduces the residual. C is a lower bound of what the
 * operator does to the largest value, so no value is off by more than residual / C. No value depends on the number of
 * ranks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/kernel.h"

#define C 20.0
#define DAMPING (6.0 / 7) /* of Jacobi's method */
#define SWEEPS 2	  /* before and behind the coarser grid */
#define SWEEPS_COARSEST 6 /* 2^3 points */
#define REDUCTION 0.5	  /* a cycle leaves at most that of the residual */
#define LEVELS_MAX 16

static const struct {
	int n, cycles;
} sizes[NCLASSES] = {{32, 4}, {64, 8}, {128, 10}, {256, 10}, {512, 10}};

/* Planes begin to end - 1. A stored plane may be -1 or n: the last or the first one once more. */
struct span {
	int begin, end;
};

struct level {
	int n;
	struct span *own, *stored; /* of each rank */
	double *u, *f, *r;	   /* the stored planes of this rank */
};

static double *plane(const struct level *l, double *x, int k)
{
	return x + (ptrdiff_t)(k - l->stored[me].begin) * l->n * l->n;
}

static int is_in(struct span s, int k)
{
	return k >= s.begin && k < s.end;
}

static struct span own_span(const struct level *finer, int n, int rank)
{
	if (!finer)
		return (struct span){share(n, ranks, rank), share(n, ranks, rank + 1)};
	const struct span fine = finer->own[rank], s = {(fine.begin + 1) / 2, (fine.end + 1) / 2};
	return s;
}

/* A rank stores its own planes, one more at both ends, and what its planes of the finer grid need. */
static struct span stored_span(const struct level *finer, struct span own, int rank)
{
	struct span s = own;
	if (own.begin < own.end)
		s = (struct span){own.begin - 1, own.end + 1};
	if (!finer || finer->own[rank].begin == finer->own[rank].end)
		return s;
	const struct span fine = finer->own[rank], needed = {fine.begin / 2, fine.end / 2 + 1};
	if (own.begin == own.end)
		return needed;
	return (struct span){s.begin < needed.begin ? s.begin : needed.begin, s.end > needed.end ? s.end : needed.end};
}

static void level_make(struct level *l, const struct level *finer, int n)
{
	l->n = n;
	l->own = memory((size_t)ranks * sizeof(struct span));
	l->stored = memory((size_t)ranks * sizeof(struct span));
	for (int r = 0; r < ranks; r++) {
		l->own[r] = own_span(finer, n, r);
		l->stored[r] = stored_span(finer, l->own[r], r);
	}
	const size_t bytes = (size_t)(l->stored[me].end - l->stored[me].begin) * (size_t)n * (size_t)n * sizeof(double);
	l->u = memory(bytes);
	l->f = memory(bytes);
	l->r = memory(bytes);
}

static void level_free(struct level *l)
{
	free(l->own);
	free(l->stored);
	free(l->u);
	free(l->f);
	free(l->r);
}

/* Fills the stored planes of x that other ranks have. The tag is the place of the plane in the receiver. */
static void exchange(const struct level *l, double *x)
{
	const int n = l->n, doubles = n * n;
	int nsent = 0;
	MPI_Request *sent =
		memory(((size_t)ranks * 4 + 4) * sizeof(MPI_Request)); /* no rank lacks more than 4 planes */
	for (int r = 0; r < ranks; r++)
		for (int k = l->stored[r].begin; k < l->stored[r].end; k++) {
			const int from = (k + n) % n;
			if (is_in(l->own[r], k) || !is_in(l->own[me], from))
				continue;
			if (r == me)
				memcpy(plane(l, x, k), plane(l, x, from), (size_t)doubles * sizeof(double));
			else
				MPI_Isend(plane(l, x, from), doubles, MPI_DOUBLE, r, k + 1, MPI_COMM_WORLD,
					&sent[nsent++]);
		}
	for (int k = l->stored[me].begin; k < l->stored[me].end; k++) {
		int owner = 0;
		while (!is_in(l->own[owner], (k + n) % n))
			owner++;
		if (owner != me)
			MPI_Recv(plane(l, x, k), doubles, MPI_DOUBLE, owner, k + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(nsent, sent, MPI_STATUSES_IGNORE);
	free(sent);
}

/* r = f - A u in the own planes; the other planes of u must be there. */
static void residual(const struct level *l)
{
	const int n = l->n, mask = n - 1;
	const double h2 = (double)n * n;
	for (int k = l->own[me].begin; k < l->own[me].end; k++) {
		const double *below = plane(l, l->u, k - 1), *here = plane(l, l->u, k), *above = plane(l, l->u, k + 1);
		const double *f = plane(l, l->f, k);
		double *r = plane(l, l->r, k);
		for (int j = 0; j < n; j++) {
			const int row = j * n, before = ((j - 1) & mask) * n, behind = ((j + 1) & mask) * n;
			for (int i = 0; i < n; i++) {
				const double around = here[row + ((i - 1) & mask)] + here[row + ((i + 1) & mask)] +
						      here[before + i] + here[behind + i] + below[row + i] +
						      above[row + i];
				r[row + i] = f[row + i] - (6 * h2 + C) * here[row + i] + h2 * around;
			}
		}
	}
}

static void smooth(const struct level *l, int sweeps)
{
	const double factor = DAMPING / (6.0 * l->n * l->n + C);
	for (int s = 0; s < sweeps; s++) {
		exchange(l, l->u);
		residual(l);
		for (int k = l->own[me].begin; k < l->own[me].end; k++) {
			double *u = plane(l, l->u, k);
			const double *r = plane(l, l->r, k);
			for (int i = 0; i < l->n * l->n; i++)
				u[i] += factor * r[i];
		}
	}
}

/* The right side of the coarser grid: weighted means of the residual. */
static void restrict_to(const struct level *fine, const struct level *l)
{
	const int mask = fine->n - 1;
	for (int k = l->own[me].begin; k < l->own[me].end; k++)
		for (int j = 0; j < l->n; j++)
			for (int i = 0; i < l->n; i++) {
				double sum = 0;
				for (int d = 0; d < 27; d++) {
					const int dk = d / 9 - 1, dj = d / 3 % 3 - 1, di = d % 3 - 1;
					const double *r = plane(fine, fine->r, 2 * k + dk);
					sum += r[((2 * j + dj) & mask) * fine->n + ((2 * i + di) & mask)] /
					       (8 << (dk * dk + dj * dj + di * di));
				}
				plane(l, l->f, k)[j * l->n + i] = sum;
			}
}

/* Adds the correction of the coarser grid: between its points, the means of their values. */
static void correct(const struct level *fine, const struct level *l)
{
	const int mask = l->n - 1;
	for (int k = fine->own[me].begin; k < fine->own[me].end; k++) {
		const double *low = plane(l, l->u, k / 2), *high = plane(l, l->u, (k + 1) / 2);
		double *u = plane(fine, fine->u, k);
		for (int j = 0; j < fine->n; j++) {
			const int a = j / 2 * l->n, b = ((j + 1) / 2 & mask) * l->n;
			for (int i = 0; i < fine->n; i++) {
				const int c = i / 2, d = (i + 1) / 2 & mask;
				u[j * fine->n + i] += (low[a + c] + low[a + d] + low[b + c] + low[b + d] + high[a + c] +
							      high[a + d] + high[b + c] + high[b + d]) /
						      8;
			}
		}
	}
}

static void cycle(const struct level *l, int levels)
{
	if (levels == 1) {
		smooth(l, SWEEPS_COARSEST);
		return;
	}
	const struct level *coarse = l + 1;
	const int planes = coarse->stored[me].end - coarse->stored[me].begin;
	smooth(l, SWEEPS);
	exchange(l, l->u);
	residual(l);
	exchange(l, l->r);
	restrict_to(l, coarse);
	memset(coarse->u, 0, (size_t)planes * (size_t)coarse->n * (size_t)coarse->n * sizeof(double));
	cycle(coarse, levels - 1);
	exchange(coarse, coarse->u);
	correct(l, coarse);
	smooth(l, SWEEPS);
}

/* The solution at a point: a pyramid, and a random value for each point on it. */
static double known(int n, int i, int j, int k)
{
	i = (i + n) % n;
	j = (j + n) % n;
	k = (k + n) % n;
	const double pyramid = fabs(2.0 * i / n - 1) * fabs(2.0 * j / n - 1) * fabs(2.0 * k / n - 1);
	return pyramid + unit(((uint64_t)k * (uint64_t)n + (uint64_t)j) * (uint64_t)n + (uint64_t)i) / 4;
}

/* Each rank makes its part of f on its own. */
static void make_problem(const struct level *l)
{
	const int n = l->n;
	const double h2 = (double)n * n;
	for (int k = l->own[me].begin; k < l->own[me].end; k++)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++)
				plane(l, l->f, k)[j * n + i] =
					(6 * h2 + C) * known(n, i, j, k) -
					h2 * (known(n, i - 1, j, k) + known(n, i + 1, j, k) + known(n, i, j - 1, k) +
						     known(n, i, j + 1, k) + known(n, i, j, k - 1) +
						     known(n, i, j, k + 1));
}

/* The largest residual of all ranks; one that is no number is infinite. */
static double largest_residual(const struct level *l)
{
	double largest = 0;
	exchange(l, l->u);
	residual(l);
	for (int k = l->own[me].begin; k < l->own[me].end; k++)
		for (int i = 0; i < l->n * l->n; i++) {
			const double r = fabs(plane(l, l->r, k)[i]);
			largest = r <= largest ? largest : isnan(r) ? INFINITY : r;
		}
	return max_of_all(largest);
}

static double largest_error(const struct level *l)
{
	double largest = 0;
	for (int k = l->own[me].begin; k < l->own[me].end; k++)
		for (int i = 0; i < l->n * l->n; i++) {
			const double e = fabs(plane(l, l->u, k)[i] - known(l->n, i % l->n, i / l->n, k));
			largest = e <= largest ? largest : isnan(e) ? INFINITY : e;
		}
	return max_of_all(largest);
}

void mg_run(int class, struct outcome *out)
{
	struct level level[LEVELS_MAX] = {{0}};
	int levels = 0;
	for (int n = sizes[class].n; n >= 2; n /= 2, levels++)
		level_make(&level[levels], levels ? &level[levels - 1] : NULL, n);
	make_problem(level);
	double before = largest_residual(level), after = before;
	for (int c = 0; c < sizes[class].cycles; c++) {
		clock_start(out);
		cycle(level, levels);
		after = largest_residual(level);
		clock_stop(out);
		if (!(after <= REDUCTION * before))
			wrong(out, "cycle %d leaves a residual of %.3g from %.3g", c + 1, after, before);
		before = after;
	}
	const double error = largest_error(level);
	if (!(error <= after / C))
		wrong(out, "the error is %.3g, and with a residual of %.3g it is below %.3g", error, after, after / C);
	snprintf(out->result, sizeof(out->result), "residual %.9e error %.9e", after, error);
	while (levels > 0)
		level_free(&level[--levels]);
}
