/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures: panels of lines or bars side by side, drawn by gnuplot. */
#ifndef ZIPBENCH_BASE_FIGURE_H
#define ZIPBENCH_BASE_FIGURE_H

#include <stdbool.h>

#include "common/base/err.h"

#define FIGURE_NAME_MAX 40
#define FIGURE_SERIES_MAX 16
#define FIGURE_X_MAX 64

struct figure_panel {
	char title[FIGURE_NAME_MAX], xlabel[FIGURE_NAME_MAX], ylabel[FIGURE_NAME_MAX];
	bool bars;  /* otherwise lines */
	bool log;   /* the y axis, base 2 */
	double low; /* where a y axis with log begins; 0: by the data */
	unsigned nx, nseries;
	char x[FIGURE_X_MAX][FIGURE_NAME_MAX]; /* names of places on the x axis */
	char series[FIGURE_SERIES_MAX][FIGURE_NAME_MAX];
	double y[FIGURE_SERIES_MAX][FIGURE_X_MAX]; /* NaN: no value */
};

void figure_panel_init(struct figure_panel *, const char *title, const char *xlabel, const char *ylabel);
/* Puts y at a place of a series, and makes either if it is new. A series or place too many is left out. */
void figure_put(struct figure_panel *, const char *series, const char *x, double y);
/* Writes BASE.gnuplot, BASE.svg and BASE.png. 0; -ENOENT: no gnuplot; -EIO and others, with text. */
int figure_draw(const char *base, const struct figure_panel *, unsigned n, struct zerr *);

#endif
