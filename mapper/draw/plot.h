/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of predictions in the manner of the paper's Figures 2 to 10, drawn by gnuplot as SVG and PNG. */
#ifndef ZIP_MAPPER_PLOT_H
#define ZIP_MAPPER_PLOT_H

#include <stddef.h>

#include "common/base/err.h"
#include "mapper/model/outcome.h"

/* One prediction and kind of links. Bytes. */
struct plot_row {
	char placement[16], routing[16], links[16];
	double min, q1, median, average, q3, max;
	unsigned bins;
	double *bin; /* links in each of `bins` parts of 0..max */
};

struct plot {
	struct plot_row *rows;
	size_t n, cap;
};

enum plot_form {
	PLOT_BOXES,	/* Figures 3 to 5, 7 to 10: groups by routing, log scale, dotted line at the least maximum */
	PLOT_HISTOGRAM, /* Figures 2 and 6: one small picture a prediction, on the same scales */
};

/* 0, -ENOMEM. */
int plot_add(struct plot *, const struct outcome *);
/* Rows of a CSV file that outcome_csv() wrote. 0, -EINVAL with "path:line: reason", and so on. */
int plot_read(struct plot *, const char *path, struct zerr *);
/* Writes BASE.gnuplot, and by it BASE.svg and BASE.png, one panel for each of the kinds ("all,L1,L2"). -EINVAL if there
 * is nothing of a kind; -ENOENT if there is no gnuplot; -EIO if it fails. */
int plot_draw(const struct plot *, enum plot_form, const char *kinds, const char *title, const char *base,
	struct zerr *);
void plot_free(struct plot *);

#endif
