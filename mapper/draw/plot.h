/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that a picture of predictions is made of: collected from outcomes, or read from CSV. */
#ifndef ZIP_MAPPER_PLOT_H
#define ZIP_MAPPER_PLOT_H

#include <stddef.h>

#include "common/base/err.h"
#include "mapper/model/outcome.h"

/* One prediction and one kind of links. Numbers are bytes. */
struct plot_row {
	char placement[16], routing[16], links[16];
	double min, q1, median, average, q3, max;
	unsigned bins;
	double *bin; /* links in each of `bins` sections of 0..max */
};

struct plot {
	struct plot_row *rows;
	size_t n, cap;
};

/* Adds the rows of an outcome. 0 or -ENOMEM. */
int plot_add(struct plot *, const struct outcome *);
/* Adds the rows of a CSV file that outcome_csv() wrote. 0, -ENOMEM, -EIO, or -EINVAL with "path:line: reason". */
int plot_read(struct plot *, const char *path, struct zerr *);
void plot_free(struct plot *);

#endif
