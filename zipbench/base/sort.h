/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting samples, for medians and quartiles. */
#ifndef ZIPBENCH_BASE_SORT_H
#define ZIPBENCH_BASE_SORT_H

#include <stddef.h>

/* Ascending. */
void sort_samples(double *sample, size_t n);

#endif
