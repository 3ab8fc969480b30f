/* SPDX-License-Identifier: BSD-3-Clause */
/* A small application as people write them: heat on a grid, rows exchanged with neighbours, residual by Allreduce. */
#include "../check.h"

#define W 64
#define ROWS 16 /* of each rank */

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	static double a[ROWS + 2][W], b[ROWS + 2][W];
	int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	double residual = 0;
	for (int i = 1; i <= ROWS; i++)
		for (int j = 0; j < W; j++)
			a[i][j] = ((rank * ROWS + i) * 13 + j * 7) % 101;
	for (int step = 0; step < 60; step++) {
		MPI_Request r[4];
		MPI_Irecv(a[0], W, MPI_DOUBLE, up, 0, WORLD, &r[0]);
		MPI_Irecv(a[ROWS + 1], W, MPI_DOUBLE, down, 1, WORLD, &r[1]);
		MPI_Isend(a[1], W, MPI_DOUBLE, up, 1, WORLD, &r[2]);
		MPI_Isend(a[ROWS], W, MPI_DOUBLE, down, 0, WORLD, &r[3]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		double mine = 0;
		for (int i = 1; i <= ROWS; i++)
			for (int j = 1; j < W - 1; j++) {
				b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
				mine += (b[i][j] - a[i][j]) * (b[i][j] - a[i][j]);
			}
		for (int i = 1; i <= ROWS; i++)
			memcpy(&a[i][1], &b[i][1], sizeof(double) * (W - 2));
		if (step % 10 == 9) {
			MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, WORLD);
			if (rank == 0)
				printf("step %d: residual %.6g\n", step, residual);
		}
	}
	double sum = 0, top;
	for (int i = 1; i <= ROWS; i++)
		for (int j = 0; j < W; j++)
			sum += a[i][j];
	MPI_Reduce(&sum, &top, 1, MPI_DOUBLE, MPI_MAX, 0, WORLD);
	printf("rank %d: sum %.9g\n", rank, sum);
	return end();
}
