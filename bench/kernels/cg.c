/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CG, conjugate gradients with a sparse symmetric matrix whose entries are in random places. The ranks form a grid.
 * Each of them has one block of the matrix, and one piece of every vector; the pieces are in the order of the ranks.
 * For a product a rank gets the pieces that belong to the columns of its block, and what it has computed goes to the
 * owners of the rows of the block. Dot products are reductions.
 *
 * Right numbers: the right side is made from a known solution. The diagonal of the matrix is larger by GAP than the sum
 * of the other entries of a row, so no value is off by more than the largest residual / GAP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/kernel.h"

#define GAP 1.0
#define ITERATIONS 25
#define ERROR_MAX 1e-6
#define TAG_PIECE 1
#define TAG_PART 2

static const struct {
	int n, entries,
		solves; /* entries: that a row adds to itself and to others; solves: systems, one after the other */
} sizes[NCLASSES] = {{4000, 4, 1}, {8000, 5, 8}, {20000, 6, 15}, {75000, 7, 40}, {150000, 8, 75}};

struct matrix {
	int n, entries;
	int rows, columns;	      /* of the grid of ranks */
	int top, bottom, left, right; /* the block: rows top to bottom - 1, columns left to right - 1 */
	int *start, *column;	      /* of the block: the entries of a row, and their columns, which count from left */
	double *value, *diagonal;     /* diagonal: of the whole matrix */
	double *expanded, *part;      /* of a product: the pieces that came, and the own results */
};

/* The piece of a rank begins here. */
static int piece(const struct matrix *m, int rank)
{
	return share(m->n, ranks, rank);
}

/* Entry e of row i, which is also in column i: another row, and a positive number that stands there with a minus. */
static int entry(const struct matrix *m, int i, int e, double *value)
{
	const uint64_t x = (uint64_t)i * (uint64_t)m->entries + (uint64_t)e;
	const int j = (int)(mix(2 * x) % (uint64_t)(m->n - 1));
	*value = unit(2 * x + 1);
	return j + (j >= i);
}

static int is_here(const struct matrix *m, int i, int j)
{
	return i >= m->top && i < m->bottom && j >= m->left && j < m->right;
}

/* Counts the entry in start, or stores it at start, which moves on. */
static void put(struct matrix *m, int i, int j, double value, int store)
{
	if (!is_here(m, i, j))
		return;
	const int at = m->start[i - m->top]++;
	if (store) {
		m->column[at] = j - m->left;
		m->value[at] = value;
	}
}

static void put_all(struct matrix *m, int store)
{
	for (int i = 0; i < m->n; i++) {
		put(m, i, i, m->diagonal[i], store);
		for (int e = 0; e < m->entries; e++) {
			double value;
			const int j = entry(m, i, e, &value);
			put(m, i, j, -value, store);
			put(m, j, i, -value, store);
		}
	}
}

static void make_diagonal(struct matrix *m)
{
	m->diagonal = memory((size_t)m->n * sizeof(double));
	for (int i = 0; i < m->n; i++)
		m->diagonal[i] = GAP;
	for (int i = 0; i < m->n; i++)
		for (int e = 0; e < m->entries; e++) {
			double value;
			const int j = entry(m, i, e, &value);
			m->diagonal[i] += value;
			m->diagonal[j] += value;
		}
}

static void matrix_make(struct matrix *m)
{
	const int height = grid_rows(), width = ranks / height;
	m->rows = height;
	m->columns = width;
	m->top = piece(m, me / width * width);
	m->bottom = piece(m, me / width * width + width);
	m->left = piece(m, me % width * height);
	m->right = piece(m, me % width * height + height);
	const int n = m->bottom - m->top;
	m->start = memory((size_t)(n + 1) * sizeof(int));
	m->expanded = memory((size_t)(m->right - m->left) * sizeof(double));
	m->part = memory((size_t)n * sizeof(double));
	make_diagonal(m);
	put_all(m, 0);
	int total = 0;
	for (int i = 0; i <= n; i++) {
		const int here = i < n ? m->start[i] : 0;
		m->start[i] = total;
		total += here;
	}
	m->column = memory((size_t)total * sizeof(int));
	m->value = memory((size_t)total * sizeof(double));
	put_all(m, 1);
	memmove(m->start + 1, m->start, (size_t)n * sizeof(int)); /* each start has moved on to the next one's */
	m->start[0] = 0;
}

static void matrix_free(struct matrix *m)
{
	free(m->start);
	free(m->column);
	free(m->value);
	free(m->diagonal);
	free(m->expanded);
	free(m->part);
}

/* Sends length doubles to a rank, later received there by take. What a rank sends to itself is copied. */
static void give(const double *x, int length, int to, int tag, double *own, MPI_Request *request)
{
	*request = MPI_REQUEST_NULL;
	if (to == me)
		memcpy(own, x, (size_t)length * sizeof(double));
	else
		MPI_Isend(x, length, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, request);
}

/* Pieces of x to the ranks of the column of the grid that needs them. */
static void expand(struct matrix *m, const double *x, MPI_Request *request)
{
	const int length = piece(m, me + 1) - piece(m, me), first = me % m->columns * m->rows;
	for (int i = 0; i < m->rows; i++)
		give(x, length, i * m->columns + me / m->rows, TAG_PIECE, m->expanded + piece(m, me) - m->left,
			&request[i]);
	for (int r = first; r < first + m->rows; r++)
		if (r != me)
			MPI_Recv(m->expanded + piece(m, r) - m->left, piece(m, r + 1) - piece(m, r), MPI_DOUBLE, r,
				TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(m->rows, request, MPI_STATUSES_IGNORE);
}

/* y: the sum of what the ranks of the row of the grid have for this rank's piece, in their order. */
static void fold(struct matrix *m, double *y, double *got, MPI_Request *request)
{
	const int length = piece(m, me + 1) - piece(m, me), first = me / m->columns * m->columns;
	for (int r = first; r < first + m->columns; r++)
		give(m->part + piece(m, r) - m->top, piece(m, r + 1) - piece(m, r), r, TAG_PART, got,
			&request[r - first]);
	memset(y, 0, (size_t)length * sizeof(double));
	double *theirs = got + length;
	for (int r = first; r < first + m->columns; r++) {
		if (r != me)
			MPI_Recv(theirs, length, MPI_DOUBLE, r, TAG_PART, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < length; i++)
			y[i] += r == me ? got[i] : theirs[i];
	}
	MPI_Waitall(m->columns, request, MPI_STATUSES_IGNORE);
}

/* y = A x; both are pieces. got: memory for two pieces. */
static void multiply(struct matrix *m, const double *x, double *y, double *got)
{
	MPI_Request *request = memory((size_t)ranks * sizeof(MPI_Request));
	expand(m, x, request);
	for (int i = 0; i < m->bottom - m->top; i++) {
		double sum = 0;
		for (int e = m->start[i]; e < m->start[i + 1]; e++)
			sum += m->value[e] * m->expanded[m->column[e]];
		m->part[i] = sum;
	}
	fold(m, y, got, request);
	free(request);
}

static double dot(const double *a, const double *b, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum_of_all(sum);
}

static double known(int solve, int i)
{
	return 2 * unit(((uint64_t)(solve + 1) << 32) + (uint64_t)i) - 1;
}

/* The right side, which each rank makes on its own. */
static void make_problem(const struct matrix *m, int solve, double *b)
{
	const int begin = piece(m, me), end = piece(m, me + 1);
	for (int i = begin; i < end; i++)
		b[i - begin] = m->diagonal[i] * known(solve, i);
	for (int i = 0; i < m->n; i++)
		for (int e = 0; e < m->entries; e++) {
			double value;
			const int j = entry(m, i, e, &value);
			if (i >= begin && i < end)
				b[i - begin] -= value * known(solve, j);
			if (j >= begin && j < end)
				b[j - begin] -= value * known(solve, i);
		}
}

/* The pieces of a solution: x, residual r, direction p, q = A p, the right side b, and memory for a product. */
struct vectors {
	int n;
	double *x, *r, *p, *q, *b, *got;
};

static void conjugate_gradients(struct matrix *m, struct vectors *v)
{
	memset(v->x, 0, (size_t)v->n * sizeof(double));
	memcpy(v->r, v->b, (size_t)v->n * sizeof(double));
	memcpy(v->p, v->b, (size_t)v->n * sizeof(double));
	double rho = dot(v->r, v->r, v->n);
	for (int k = 0; k < ITERATIONS; k++) {
		multiply(m, v->p, v->q, v->got);
		const double alpha = rho / dot(v->p, v->q, v->n), before = rho;
		for (int i = 0; i < v->n; i++) {
			v->x[i] += alpha * v->p[i];
			v->r[i] -= alpha * v->q[i];
		}
		rho = dot(v->r, v->r, v->n);
		for (int i = 0; i < v->n; i++)
			v->p[i] = v->r[i] + rho / before * v->p[i];
	}
}

/* The largest value of all ranks; one that is no number is infinite. */
static double largest(double *x, int n)
{
	double most = 0;
	for (int i = 0; i < n; i++)
		most = fabs(x[i]) <= most ? most : isnan(x[i]) ? INFINITY : fabs(x[i]);
	return max_of_all(most);
}

static void verify(struct matrix *m, struct vectors *v, int solve, struct outcome *out)
{
	multiply(m, v->x, v->q, v->got);
	for (int i = 0; i < v->n; i++) {
		v->r[i] = v->b[i] - v->q[i];
		v->p[i] = v->x[i] - known(solve, piece(m, me) + i);
	}
	const double residual = largest(v->r, v->n), error = largest(v->p, v->n);
	if (!(error <= residual / GAP + 1e-12))
		wrong(out, "system %d: the error is %.3g, and the residual %.3g", solve + 1, error, residual);
	if (!(error <= ERROR_MAX))
		wrong(out, "system %d: the error is %.3g", solve + 1, error);
}

void cg_run(int class, struct outcome *out)
{
	struct matrix m = {.n = sizes[class].n, .entries = sizes[class].entries};
	double norm = 0;
	matrix_make(&m);
	const int n = piece(&m, me + 1) - piece(&m, me);
	double *all = memory(7 * (size_t)n * sizeof(double));
	struct vectors v = {n, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n};
	for (int s = 0; s < sizes[class].solves; s++) {
		make_problem(&m, s, v.b);
		clock_start(out);
		conjugate_gradients(&m, &v);
		clock_stop(out);
		verify(&m, &v, s, out);
		norm += sqrt(dot(v.x, v.x, n));
	}
	snprintf(out->result, sizeof(out->result), "systems %d sum of norms %.6f", sizes[class].solves, norm);
	free(all);
	matrix_free(&m);
}
