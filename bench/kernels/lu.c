/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU: symmetric successive over-relaxation on a cube of n^3 points with seven-point coupling. The ranks divide the cube
 * in two dimensions. A sweep goes through the planes as a wave front: for each plane a rank waits for one line of each
 * of the two ranks before it, and sends a line to each of the two behind it. So messages are many and small.
 *
 * Right numbers: the right side is made from a known solution, and each iteration reduces the residual. The diagonal is
 * larger by GAP than the sum of the other entries of a row, so no value is off by more than residual / GAP. No value
 * depends on the number of ranks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/kernels/kernel.h"

#define GAP 0.5
#define DIAGONAL (6 + GAP)
#define OMEGA 1.2
#define REDUCTION 0.9 /* an iteration leaves at most that of the residual */

static const struct {
	int n, iterations;
} sizes[NCLASSES] = {{16, 8}, {32, 30}, {64, 50}, {128, 50}, {192, 50}};

/* Neighbours: at the low and the high end of the two dimensions; -1: there is none. */
enum side { WEST, EAST, NORTH, SOUTH, SIDES };

struct block {
	int n;		    /* planes, and points of the cube in each dimension */
	int nx, ny, x0, y0; /* the points of this rank in two dimensions, and the first of them */
	int rank[SIDES];
	double *u, *d, *f;   /* solution, correction, right side: planes -1 to n, lines -1 to ny, points -1 to nx */
	double *line[SIDES]; /* of messages */
	double *residual;    /* like u */
};

static size_t at(const struct block *b, int i, int j, int k)
{
	return ((size_t)(k + 1) * (size_t)(b->ny + 2) + (size_t)(j + 1)) * (size_t)(b->nx + 2) + (size_t)(i + 1);
}

static int block_make(struct block *b, int n)
{
	const int rows = grid_rows(), columns = ranks / rows, x = me % columns, y = me / columns;
	if (columns > n)
		return -1;
	*b = (struct block){.n = n,
		.x0 = share(n, columns, x),
		.nx = share(n, columns, x + 1) - share(n, columns, x),
		.y0 = share(n, rows, y),
		.ny = share(n, rows, y + 1) - share(n, rows, y),
		.rank = {x > 0 ? me - 1 : -1, x < columns - 1 ? me + 1 : -1, y > 0 ? me - columns : -1,
			y < rows - 1 ? me + columns : -1}};
	const size_t bytes = at(b, b->nx, b->ny, n) * sizeof(double) + sizeof(double);
	b->u = memory(bytes);
	b->d = memory(bytes);
	b->f = memory(bytes);
	b->residual = memory(bytes);
	for (int s = 0; s < SIDES; s++)
		b->line[s] = memory((size_t)n * (size_t)n * sizeof(double));
	return 0;
}

static void block_free(struct block *b)
{
	free(b->u);
	free(b->d);
	free(b->f);
	free(b->residual);
	for (int s = 0; s < SIDES; s++)
		free(b->line[s]);
}

/* The place of point p of a line in plane k at a side; beyond: of the points outside, which the neighbour has. */
static size_t border(const struct block *b, enum side s, int p, int k, int beyond)
{
	switch (s) {
	case WEST:
		return at(b, -beyond, p, k);
	case EAST:
		return at(b, b->nx - 1 + beyond, p, k);
	case NORTH:
		return at(b, p, -beyond, k);
	default:
		return at(b, p, b->ny - 1 + beyond, k);
	}
}

static int length(const struct block *b, enum side s)
{
	return s == WEST || s == EAST ? b->ny : b->nx;
}

/* Copies the border of planes first to last into line[s]. Returns the number of doubles. */
static int pack(const struct block *b, const double *x, enum side s, int first, int last)
{
	int n = 0;
	for (int k = first; k <= last; k++)
		for (int p = 0; p < length(b, s); p++)
			b->line[s][n++] = x[border(b, s, p, k, 0)];
	return n;
}

/* Receives what the neighbour has packed. */
static void receive(const struct block *b, double *x, enum side s, int first, int last)
{
	int n = 0;
	MPI_Recv(b->line[s], length(b, s) * (last - first + 1), MPI_DOUBLE, b->rank[s], 0, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	for (int k = first; k <= last; k++)
		for (int p = 0; p < length(b, s); p++)
			x[border(b, s, p, k, 1)] = b->line[s][n++];
}

/* One dimension after the other: the faces of all planes between this rank and its two neighbours. */
static void exchange_faces(const struct block *b)
{
	for (enum side s = WEST; s <= NORTH; s += 2) {
		MPI_Request request[2];
		double *sent[2] = {NULL, NULL};
		for (int e = 0; e < 2; e++) {
			request[e] = MPI_REQUEST_NULL;
			if (b->rank[s + e] < 0)
				continue;
			const int n = pack(b, b->u, s + e, 0, b->n - 1);
			sent[e] = memory((size_t)n * sizeof(double));
			for (int i = 0; i < n; i++)
				sent[e][i] = b->line[s + e][i];
			MPI_Isend(sent[e], n, MPI_DOUBLE, b->rank[s + e], 0, MPI_COMM_WORLD, &request[e]);
		}
		for (int e = 0; e < 2; e++)
			if (b->rank[s + e] >= 0)
				receive(b, b->u, s + e, 0, b->n - 1);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		free(sent[0]);
		free(sent[1]);
	}
}

/* Sums over the neighbours at the low ends, and at the high ends. */
static double low(const struct block *b, const double *x, int i, int j, int k)
{
	return x[at(b, i - 1, j, k)] + x[at(b, i, j - 1, k)] + x[at(b, i, j, k - 1)];
}

static double high(const struct block *b, const double *x, int i, int j, int k)
{
	return x[at(b, i + 1, j, k)] + x[at(b, i, j + 1, k)] + x[at(b, i, j, k + 1)];
}

/* The largest residual of this rank; one that is no number is infinite. */
static double compute_residual(const struct block *b)
{
	double largest = 0;
	exchange_faces(b);
	for (int k = 0; k < b->n; k++)
		for (int j = 0; j < b->ny; j++)
			for (int i = 0; i < b->nx; i++) {
				const double r = b->f[at(b, i, j, k)] - DIAGONAL * b->u[at(b, i, j, k)] +
						 low(b, b->u, i, j, k) + high(b, b->u, i, j, k);
				b->residual[at(b, i, j, k)] = r;
				largest = fabs(r) <= largest ? largest : isnan(r) ? INFINITY : fabs(r);
			}
	return largest;
}

/* Lines of plane k from the two ranks before this one, or to the two behind it. */
static void take_lines(const struct block *b, enum side a, enum side c, int k)
{
	if (b->rank[a] >= 0)
		receive(b, b->d, a, k, k);
	if (b->rank[c] >= 0)
		receive(b, b->d, c, k, k);
}

static void send_lines(const struct block *b, enum side a, enum side c, int k)
{
	for (int e = 0; e < 2; e++) {
		const enum side s = e ? c : a;
		if (b->rank[s] >= 0)
			MPI_Send(b->line[s], pack(b, b->d, s, k, k), MPI_DOUBLE, b->rank[s], 0, MPI_COMM_WORLD);
	}
}

static void sweep_up(const struct block *b)
{
	for (int k = 0; k < b->n; k++) {
		take_lines(b, WEST, NORTH, k);
		for (int j = 0; j < b->ny; j++)
			for (int i = 0; i < b->nx; i++)
				b->d[at(b, i, j, k)] = (OMEGA * (2 - OMEGA) * b->residual[at(b, i, j, k)] +
							       OMEGA * low(b, b->d, i, j, k)) /
						       DIAGONAL;
		send_lines(b, EAST, SOUTH, k);
	}
}

static void sweep_down(const struct block *b)
{
	for (int k = b->n - 1; k >= 0; k--) {
		take_lines(b, EAST, SOUTH, k);
		for (int j = b->ny - 1; j >= 0; j--)
			for (int i = b->nx - 1; i >= 0; i--)
				b->d[at(b, i, j, k)] += OMEGA / DIAGONAL * high(b, b->d, i, j, k);
		send_lines(b, WEST, NORTH, k);
	}
}

static void iterate(const struct block *b)
{
	sweep_up(b);
	sweep_down(b);
	for (int k = 0; k < b->n; k++)
		for (int j = 0; j < b->ny; j++)
			for (int i = 0; i < b->nx; i++)
				b->u[at(b, i, j, k)] += b->d[at(b, i, j, k)];
}

/* The solution at a point of the cube: a hill, and a random value for each point on it; 0 outside. */
static double known(int n, int i, int j, int k)
{
	if (i < 0 || j < 0 || k < 0 || i >= n || j >= n || k >= n)
		return 0;
	const double side = n + 1, hill = 64 * (i + 1) * (j + 1) * (k + 1) / side * (n - i) * (n - j) * (n - k);
	return hill / (side * side * side * side * side) +
	       unit(((uint64_t)k * (uint64_t)n + (uint64_t)j) * (uint64_t)n + (uint64_t)i) / 4;
}

/* Each rank makes its part of the right side on its own. */
static void make_problem(const struct block *b)
{
	const int n = b->n;
	for (int k = 0; k < n; k++)
		for (int j = 0; j < b->ny; j++)
			for (int i = 0; i < b->nx; i++) {
				const int x = b->x0 + i, y = b->y0 + j;
				b->f[at(b, i, j, k)] = DIAGONAL * known(n, x, y, k) - known(n, x - 1, y, k) -
						       known(n, x + 1, y, k) - known(n, x, y - 1, k) -
						       known(n, x, y + 1, k) - known(n, x, y, k - 1) -
						       known(n, x, y, k + 1);
			}
}

static double largest_error(const struct block *b)
{
	double largest = 0;
	for (int k = 0; k < b->n; k++)
		for (int j = 0; j < b->ny; j++)
			for (int i = 0; i < b->nx; i++) {
				const double e = fabs(b->u[at(b, i, j, k)] - known(b->n, b->x0 + i, b->y0 + j, k));
				largest = e <= largest ? largest : isnan(e) ? INFINITY : e;
			}
	return max_of_all(largest);
}

void lu_run(int class, struct outcome *out)
{
	struct block b;
	if (block_make(&b, sizes[class].n)) {
		wrong(out, "%d ranks are too many for %d^3 points", ranks, sizes[class].n);
		return;
	}
	make_problem(&b);
	double before = max_of_all(compute_residual(&b)), after = before;
	for (int i = 0; i < sizes[class].iterations; i++) {
		clock_start(out);
		iterate(&b);
		after = max_of_all(compute_residual(&b));
		clock_stop(out);
		if (!(after <= REDUCTION * before))
			wrong(out, "iteration %d leaves a residual of %.3g from %.3g", i + 1, after, before);
		before = after;
	}
	const double error = largest_error(&b);
	if (!(error <= after / GAP))
		wrong(out, "the error is %.3g, and with a residual of %.3g it is below %.3g", error, after,
			after / GAP);
	snprintf(out->result, sizeof(out->result), "residual %.9e error %.9e", after, error);
	block_free(&b);
}
