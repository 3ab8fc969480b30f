/* SPDX-License-Identifier: BSD-3-Clause */
/* See sort.h. */
#include "zipbench/base/sort.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void sort_samples(double *sample, size_t n)
{
	qsort(sample, n, sizeof(double), compare);
}
