/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest and smallest of numbers, with NaN and with 0 of either sign among them: operands must not change places
 * there. All ranks get the same bits, in clusters that combine them and in those that do not. MPICH alone does not
 * promise that. twin: native=no layouts=2+2,1+3,1+1+2 timeout=60
 */
#include <math.h>

#include "coll_comms.h"

#define LONG 30000

struct place {
	double value;
	int at;
};

static double numbers[LONG], result[LONG];
static struct place places[LONG], placed[LONG];
static double complex_in[2 * LONG], complex_out[2 * LONG];

static double number(int i)
{
	int at = (i + me) % (np + 2);
	if (i % 3 == 0)
		return me == i % np ? (double)NAN : me;
	if (i % 3 == 1)
		return (i / 3 + me) % 2 ? 0.0 : -0.0;
	return at == 0 ? (double)NAN : at == 1 ? -0.0 : at == 2 ? 0.0 : -at / 3.0;
}

static unsigned long checksum(const void *at, size_t bytes)
{
	const unsigned char *p = at;
	unsigned long hash = 14695981039346656037ul;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 1099511628211ul;
	return hash;
}

static void same_everywhere(const char *what, int n, unsigned long sum)
{
	unsigned long low, high;
	MPI_Allreduce(&sum, &low, 1, MPI_UNSIGNED_LONG, MPI_MIN, comm);
	MPI_Allreduce(&sum, &high, 1, MPI_UNSIGNED_LONG, MPI_MAX, comm);
	CHECK(low == high, "%s of %d: not the same bits", what, n);
}

static void largest(const char *what, int n, MPI_Op op)
{
	for (int i = 0; i < n; i++)
		numbers[i] = number(i);
	MPI_Allreduce(numbers, result, n, MPI_DOUBLE, op, comm);
	same_everywhere(what, n, checksum(result, (size_t)n * sizeof *result));
	MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_DOUBLE, op, comm);
	same_everywhere(what, n, checksum(numbers, (size_t)n * sizeof *numbers));
}

static void where(const char *what, int n, MPI_Op op)
{
	memset(places, 0, sizeof places); /* the gaps, too */
	memset(placed, 0, sizeof placed);
	for (int i = 0; i < n; i++) {
		places[i].value = number(i);
		places[i].at = me;
	}
	MPI_Allreduce(places, placed, n, MPI_DOUBLE_INT, op, comm);
	unsigned long sum = 0;
	for (int i = 0; i < n; i++)
		sum = sum * 31 + checksum(&placed[i].value, sizeof(double)) + (unsigned)placed[i].at;
	same_everywhere(what, n, sum);
}

static void product(int n)
{
	for (int i = 0; i < 2 * n; i++)
		complex_in[i] = 1 + ((i * 7 + me * 13) % 11 - 5) / 7.0;
	MPI_Allreduce(complex_in, complex_out, n, MPI_C_DOUBLE_COMPLEX, MPI_PROD, comm);
	same_everywhere("complex product", n, checksum(complex_out, (size_t)n * 2 * sizeof *complex_out));
}

int main(int argc, char **argv)
{
	const int counts[] = {1, 2, 3, 100, 257, 5000, LONG};
	begin(&argc, &argv);
	make_comms();
	for (int i = 0; i < COMMS - 1; i++) { /* the halves may lie in one cluster, where MPICH alone is asked */
		if (!use_comm(i))
			continue;
		for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
			largest("maximum", counts[c], MPI_MAX);
			largest("minimum", counts[c], MPI_MIN);
			where("maxloc", counts[c], MPI_MAXLOC);
			where("minloc", counts[c], MPI_MINLOC);
			product(counts[c]);
		}
	}
	free_comms();
	return end();
}
