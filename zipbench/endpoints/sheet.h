/* SPDX-License-Identifier: BSD-3-Clause */
/* A sheet of results: rates, times and the resources that endpoints take, as CSV and for figures. */
#ifndef ZIPBENCH_ENDPOINTS_SHEET_H
#define ZIPBENCH_ENDPOINTS_SHEET_H

#include "zipbench/base/figure.h"
#include "common/endpoint/account.h"
#include "zipbench/endpoints/options.h"

#define SHEET_ROUNDS_MAX 1000

struct sheet_row {
	char group[24]; /* the sweep; each has a figure of its own */
	char line[FIGURE_NAME_MAX], x[24];
	unsigned threads, processes, size;
	uint64_t messages;	/* of a round */
	double *rate, *seconds; /* of each round: messages a second, and the time of the round */
	unsigned rounds;
	struct zaccount account; /* predicted for mlx5 */
};

struct sheet {
	struct sheet_row *row;
	size_t n, cap;
	unsigned rounds;
};

/* A new row, or NULL: no memory. Names have no commas: they are fields of a CSV line. */
struct sheet_row *sheet_add(struct sheet *, const char *group, const char *line, const char *x);
/* Notes a round. rate: messages a second. */
void sheet_note(struct sheet_row *, uint64_t messages, double rate, double seconds);
double sheet_rate(const struct sheet_row *); /* median, messages a second */
/* Predicts the resources that `processes` such plans take. 0 or a negative errno with text. */
int sheet_predict(struct sheet_row *, const struct zep_plan *, unsigned processes, struct zerr *);
/* Writes medians to the file, or to standard output if path is NULL. 0 or a negative errno with text. */
int sheet_write(const struct sheet *, const char *path, struct zerr *);
/* Draws the figure of one group: the rates of all lines; QPs, CQs, UARs and uUARs of the first line; and the uUARs of
 * lines that take another number of them. 0 or a negative errno with text. */
int sheet_draw(const struct sheet *, const char *group, const char *base, const char *title, bool bars, struct zerr *);
void sheet_free(struct sheet *);

#endif
