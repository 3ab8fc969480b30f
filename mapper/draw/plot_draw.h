/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of predictions in the manner of the paper's Figures 2 to 10, drawn by gnuplot as SVG and PNG. */
#ifndef ZIP_MAPPER_PLOT_DRAW_H
#define ZIP_MAPPER_PLOT_DRAW_H

#include "mapper/draw/plot.h"

enum plot_form {
	PLOT_BOXES,	/* Figures 3 to 5, 7 to 10: groups by routing, log scale, dotted line at the least maximum */
	PLOT_HISTOGRAM, /* Figures 2 and 6: a small picture for each prediction, all on the same scales */
};

/* Writes BASE.gnuplot, and with it BASE.svg and BASE.png, with a panel for each of the kinds ("all,L1,L2"). 0, -ENOMEM;
 * -EINVAL if a kind has no rows; -ENOENT if there is no gnuplot; -EIO if it fails. */
int plot_draw(const struct plot *, enum plot_form, const char *kinds, const char *title, const char *base,
	struct zerr *);

#endif
