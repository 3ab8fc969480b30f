/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuning table that "zipbench tune" writes. */
#ifndef ZIPBENCH_TUNE_TUNE_TABLE_H
#define ZIPBENCH_TUNE_TUNE_TABLE_H

#include "zipbench/tune/tune_state.h"

/* Writes rules for the candidates that were faster in this layout. Sorts the samples. */
void tune_table_write(struct tune *, int layout);

#endif
