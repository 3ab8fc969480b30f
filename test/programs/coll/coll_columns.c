/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans of the columns of a matrix, which are datatypes that interleave in memory: whoever collects the
 * matrices of several ranks must keep them apart. In the order of the world, and with the clusters' ranks interleaved.
 * twin: layouts=2+2,1+3,3+1,1+1+2 timeout=60 external32=yes
 */
#include "../check.h"

#define ROWS 5
#define COLUMNS 4
typedef int matrix[ROWS][COLUMNS];

static MPI_Datatype column;

/* Each column maps x -> a x + b by its first two rows, and the others are sums. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
	CHECK(*type == column, "called with another datatype");
	for (int c = 0; c < *count; c++) {
		int *x = (int *)in + c, *y = (int *)inout + c;
		unsigned xa = (unsigned)x[0], xb = (unsigned)x[COLUMNS];
		unsigned ya = (unsigned)y[0], yb = (unsigned)y[COLUMNS];
		y[0] = (int)(ya * xa);
		y[COLUMNS] = (int)(ya * xb + yb);
		for (int r = 2; r < ROWS; r++)
			y[r * COLUMNS] += x[r * COLUMNS];
	}
}

static void fill_matrix(matrix m, int me)
{
	for (int i = 0; i < ROWS * COLUMNS; i++)
		m[i / COLUMNS][i % COLUMNS] = (me + 2) * (2 * i + 3) % 97;
}

static void show(const char *order, const char *what, int me, const matrix m)
{
	char text[ROWS * COLUMNS * 12 + 1] = "";
	for (int i = 0, at = 0; i < ROWS * COLUMNS; i++)
		at += sprintf(text + at, " %d", m[i / COLUMNS][i % COLUMNS]);
	printf("%s: %s, rank %d:%s\n", order, what, me, text);
}

static void try_in(const char *order, MPI_Comm comm)
{
	int me, np;
	matrix mine, all;
	MPI_Op op;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &np);
	MPI_Op_create(compose, 0, &op);
	fill_matrix(mine, me);
	for (int form = 0; form < 6; form++) {
		static const char *const names[] = {"reduce", "allreduce", "scan", "exscan", "reduce_scatter",
			"reduce_scatter of all to one"};
		int counts[16] = {0};
		memset(all, 0, sizeof all);
		switch (form) {
		case 0:
			MPI_Reduce(mine, all, COLUMNS, column, op, np - 1, comm);
			break;
		case 1:
			MPI_Allreduce(mine, all, COLUMNS, column, op, comm);
			break;
		case 2:
			MPI_Scan(mine, all, COLUMNS, column, op, comm);
			break;
		case 3:
			MPI_Exscan(mine, all, COLUMNS, column, op, comm);
			break;
		case 4:
			counts[0] = 1;
			counts[np - 1] = COLUMNS - 1;
			MPI_Reduce_scatter(mine, all, counts, column, op, comm);
			break;
		default:
			counts[1] = COLUMNS;
			MPI_Reduce_scatter(mine, all, counts, column, op, comm);
			break;
		}
		show(order, names[form], me, all);
	}
	MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Datatype vector;
	MPI_Comm interleaved;
	MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &vector);
	MPI_Type_create_resized(vector, 0, sizeof(int), &column);
	MPI_Type_commit(&column);
	MPI_Type_free(&vector);
	MPI_Comm_split(WORLD, 0, rank % 2 * size + rank, &interleaved);
	try_in("the world's order", WORLD);
	try_in("interleaved", interleaved);
	MPI_Comm_free(&interleaved);
	MPI_Type_free(&column);
	return end();
}
