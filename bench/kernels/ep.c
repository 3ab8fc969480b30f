/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EP, embarrassingly parallel: pairs of normal deviates by Marsaglia's polar method, counted by the square ring around
 * zero that they fall into. The ranks meet in one reduction at the end. All sums are integers, so they are the same for
 * any number of ranks.
 *
 * Right numbers: the counts add up to the number of pairs; counts, mean and variance are what the normal distribution
 * says, within six standard deviations; and a weighted sum of all numbers, which each rank adds, fits the reduced
 * numbers, so that no bit was lost on the way.
 */
#include <math.h>
#include <stdio.h>

#include "bench/kernels/kernel.h"

#define RINGS 10
#define SCALE 1048576.0 /* deviates are summed up in units of 2^-20 */
#define SIGMAS 6
#define PI 3.14159265358979323846

enum { REJECTED = RINGS, SUM_X, SUM_Y, SUM_SQUARES, CHECK, NUMBERS };

static const int log2_pairs[NCLASSES] = {21, 24, 27, 30, 32};

static uint64_t check_of(const uint64_t *number)
{
	uint64_t sum = 0;
	for (int i = 0; i < CHECK; i++)
		sum += number[i] * (mix((uint64_t)i) | 1);
	return sum;
}

static void count_pairs(uint64_t begin, uint64_t end, uint64_t *number)
{
	for (uint64_t i = begin; i < end; i++) {
		const double x = 2 * unit(2 * i) - 1, y = 2 * unit(2 * i + 1) - 1, t = x * x + y * y;
		if (t >= 1 || t == 0) {
			number[REJECTED]++;
			continue;
		}
		const double f = sqrt(-2 * log(t) / t), gx = f * x, gy = f * y;
		const int ring = (int)fmax(fabs(gx), fabs(gy));
		number[ring < RINGS ? ring : RINGS - 1]++;
		number[SUM_X] += (uint64_t)llrint(gx * SCALE);
		number[SUM_Y] += (uint64_t)llrint(gy * SCALE);
		number[SUM_SQUARES] += (uint64_t)llrint((gx * gx + gy * gy) * SCALE);
	}
	number[CHECK] = check_of(number);
}

/* The value must be as expected, within some standard deviations. Some more are allowed where few are expected. */
static void expect(struct outcome *out, const char *what, double value, double expected, double deviation)
{
	if (!(fabs(value - expected) <= SIGMAS * (deviation + 1)))
		wrong(out, "%s: %.6g, and %.6g is expected", what, value, expected);
}

static void verify(const uint64_t *number, double pairs, struct outcome *out)
{
	uint64_t inside = 0;
	if (number[CHECK] != check_of(number))
		wrong(out, "the reduced numbers are not the sums of the ranks' numbers");
	for (int i = 0; i < RINGS; i++)
		inside += number[i];
	if ((double)(inside + number[REJECTED]) != pairs)
		wrong(out, "the counts do not add up to %.0f pairs", pairs);
	const double n = (double)inside;
	expect(out, "pairs in the circle", n, pairs * PI / 4, sqrt(pairs * PI / 4 * (1 - PI / 4)));
	for (int i = 0; i < RINGS; i++) {
		const double low = erf(i / sqrt(2)), high = i < RINGS - 1 ? erf((i + 1) / sqrt(2)) : 1;
		const double p = high * high - low * low;
		expect(out, "pairs in a ring", (double)number[i], n * p, sqrt(n * p * (1 - p)));
	}
	expect(out, "sum of x", (double)(int64_t)number[SUM_X] / SCALE, 0, sqrt(n));
	expect(out, "sum of y", (double)(int64_t)number[SUM_Y] / SCALE, 0, sqrt(n));
	expect(out, "sum of squares", (double)number[SUM_SQUARES] / SCALE, 2 * n, 2 * sqrt(n));
}

void ep_run(int class, struct outcome *out)
{
	const uint64_t pairs = (uint64_t)1 << log2_pairs[class], each = pairs / (uint64_t)ranks;
	uint64_t number[NUMBERS] = {0}, all[NUMBERS];
	const uint64_t begin = each * (uint64_t)me;
	clock_start(out);
	count_pairs(begin, me == ranks - 1 ? pairs : begin + each, number);
	MPI_Allreduce(number, all, NUMBERS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	clock_stop(out);
	verify(all, (double)pairs, out);
	snprintf(out->result, sizeof(out->result), "sums %lld %lld check %016llx", (long long)all[SUM_X],
		(long long)all[SUM_Y], (unsigned long long)all[CHECK]);
}
