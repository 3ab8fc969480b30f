/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids: the properties of a communicator with a Cartesian topology, its subgrids and duplicates; and wrong arguments.
 * twin: ranks=6 layouts=3+3,1+5,4+2,1+2+3
 */
#include "../check.h"

static void show(const char *what, MPI_Comm c)
{
	int kind, n, me, ndims, dims[4] = {0}, periods[4] = {0}, coords[4] = {0}, at;
	char line[600];
	if (c == MPI_COMM_NULL) {
		printf("rank %d: %s: none\n", rank, what);
		return;
	}
	MPI_Topo_test(c, &kind);
	MPI_Comm_size(c, &n);
	MPI_Comm_rank(c, &me);
	if (kind != MPI_CART) {
		printf("rank %d: %s: no grid, %d of %d\n", rank, what, me, n);
		return;
	}
	MPI_Cartdim_get(c, &ndims);
	MPI_Cart_get(c, 4, dims, periods, coords);
	int used = snprintf(line, sizeof line, "rank %d: %s: %d of %d, %d dimensions:", rank, what, me, n, ndims);
	for (int d = 0; d < ndims; d++)
		used += sprintf(line + used, " %d%s %d", dims[d], periods[d] ? " (periodic)" : "", coords[d]);
	MPI_Cart_rank(c, coords, &at);
	CHECK_INT(at, me);
	for (int d = 0; d < ndims; d++)
		for (int steps = -2; steps <= 7; steps += 3) {
			int from, to;
			MPI_Cart_shift(c, d, steps, &from, &to);
			used += sprintf(line + used, ", %d: %d %d", steps, from == MPI_PROC_NULL ? -1 : from,
				to == MPI_PROC_NULL ? -1 : to);
		}
	fputs(strcat(line, "\n"), stdout); /* one write(2), not two as puts */
	for (int r = 0; r < n; r++) {
		MPI_Cart_coords(c, r, 4, coords);
		MPI_Cart_rank(c, coords, &at);
		CHECK_INT(at, r);
		for (int d = 0; d < ndims; d++) /* once around */
			coords[d] += periods[d] ? (d % 2 ? -3 : 2) * dims[d] : 0;
		MPI_Cart_rank(c, coords, &at);
		CHECK_INT(at, r);
	}
	int sum = -1;
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c);
	CHECK_INT(sum, n * (n - 1) / 2);
}

static void parts(const char *what, MPI_Comm c, const int *keep)
{
	MPI_Comm sub, again, dup;
	char text[300];
	MPI_Cart_sub(c, keep, &sub);
	show(what, sub);
	if (sub == MPI_COMM_NULL)
		return;
	MPI_Comm_dup(sub, &dup);
	snprintf(text, sizeof text, "%s, again", what);
	show(text, dup);
	MPI_Cart_sub(dup, (int[]){0, 1, 1}, &again);
	snprintf(text, sizeof text, "%s, and of that", what);
	show(text, again);
	if (again != MPI_COMM_NULL)
		MPI_Comm_free(&again);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&sub);
}

static void grid(const char *what, MPI_Comm of, int ndims, const int *dims, const int *periods)
{
	MPI_Comm c, dup, idup, split;
	MPI_Request r;
	char text[100];
	MPI_Cart_create(of, ndims, dims, periods, 1, &c);
	show(what, c);
	if (c == MPI_COMM_NULL)
		return;
	MPI_Comm_dup(c, &dup);
	MPI_Comm_idup(c, &idup, &r);
	MPI_Comm_free(&c);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	snprintf(text, sizeof text, "%s, duplicate", what);
	show(text, dup);
	snprintf(text, sizeof text, "%s, nonblocking duplicate", what);
	show(text, idup);
	MPI_Comm_split(idup, 0, -rank, &split);
	snprintf(text, sizeof text, "%s, split", what);
	show(text, split);
	for (int keep = 0; keep < 1 << ndims; keep++) {
		int remain[4];
		for (int d = 0; d < ndims; d++)
			remain[d] = keep >> d & 1;
		snprintf(text, sizeof text, "%s, part %d", what, keep);
		parts(text, idup, remain);
	}
	MPI_Comm_free(&split);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&idup);
}

#define WRONG(call) printf("rank %d: %s: class %d\n", rank, #call, class_of(call))

static void wrong(void)
{
	MPI_Comm c, made = MPI_COMM_NULL;
	int dims[3] = {2, 3, 2}, periods[3] = {1, 0, 0}, at[3] = {0, 3, 0}, n, from, to;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	WRONG(MPI_Cart_create(WORLD, 3, dims, periods, 0, &made));
	WRONG(MPI_Cart_create(WORLD, -1, dims, periods, 0, &made));
	WRONG(MPI_Cart_create(WORLD, 2, dims, NULL, 0, &made));
	WRONG(MPI_Cartdim_get(WORLD, &n));
	WRONG(MPI_Cart_rank(WORLD, at, &n));
	WRONG(MPI_Cart_coords(WORLD, 0, 3, at));
	WRONG(MPI_Cart_shift(WORLD, 0, 1, &from, &to));
	WRONG(MPI_Cart_sub(WORLD, at, &made));
	WRONG(MPI_Graphdims_get(WORLD, &n, &from));
	MPI_Cart_create(WORLD, 2, dims, periods, 0, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	at[1] = 3;
	WRONG(MPI_Cart_rank(c, at, &n));
	at[1] = -1;
	WRONG(MPI_Cart_rank(c, at, &n));
	WRONG(MPI_Cart_coords(c, 6, 2, at));
	WRONG(MPI_Cart_coords(c, -1, 2, at));
	WRONG(MPI_Cart_shift(c, 2, 1, &from, &to));
	WRONG(MPI_Cart_shift(c, -1, 1, &from, &to));
	WRONG(MPI_Graph_neighbors_count(c, 0, &n));
	WRONG(MPI_Dist_graph_neighbors_count(c, &n, &from, &to));
	MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int dims[] = {3, 2, 1, 1}, flat[] = {2, 2, 1}, all[] = {1, 1, 1}, some[] = {0, 1, 0}, none[] = {0, 0, 0};
	MPI_Comm odd;
	int at;
	grid("3x2", WORLD, 2, dims, none);
	grid("3x2 periodic", WORLD, 2, dims, all);
	grid("3x2x1 partly", WORLD, 3, dims, some);
	grid("2x2 of six", WORLD, 2, flat, some);
	grid("line", WORLD, 1, &size, none);
	grid("ring", WORLD, 1, &size, all);
	grid("point", WORLD, 0, NULL, NULL);
	MPI_Comm_split(WORLD, rank % 2, -rank, &odd);
	grid("of three", odd, 2, &dims[2], all);
	grid("ring of three", odd, 1, dims, all);
	MPI_Comm_free(&odd);
	MPI_Cart_map(WORLD, 2, flat, none, &at);
	printf("rank %d: mapped to %d\n", rank, at == MPI_UNDEFINED ? -1 : at);
	wrong();
	return end();
}
