/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a candidate of "zipbench tune" makes a difference, as far as the settings alone say. */
#ifndef ZIPBENCH_TUNE_TUNE_WANT_H
#define ZIPBENCH_TUNE_TUNE_WANT_H

#include "zipbench/tune/tune_state.h"

/* Marks the points of this layout that are worth measuring: those where the collective does something else than with
 * the defaults. 0 or a negative errno with text. */
int tune_want(struct tune *, int layout, struct zerr *);
/* The size of a point, as the table counts bytes. */
double tune_want_bytes(const struct tune *, int layout, const struct tune_target *, int point);

#endif
