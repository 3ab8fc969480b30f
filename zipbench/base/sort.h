/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples in their order, for medians and quartiles. */
#ifndef ZIPBENCH_BASE_SORT_H
#define ZIPBENCH_BASE_SORT_H

#include <stddef.h>

/* The least one first. */
void sort_samples(double *sample, size_t n);

#endif
