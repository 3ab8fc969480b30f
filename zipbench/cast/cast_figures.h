/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures that "zipbench cast" makes. */
#ifndef ZIPBENCH_CAST_CAST_FIGURES_H
#define ZIPBENCH_CAST_CAST_FIGURES_H

#include "zipbench/cast/cast_point.h"

struct cast_figure {
	const char *name;
	int (*make)(struct cast_bench *, struct zerr *); /* 0 or a negative errno with text */
};
extern const struct cast_figure cast_figures[]; /* a row without a name ends it */

#endif
