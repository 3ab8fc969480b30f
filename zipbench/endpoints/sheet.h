/* SPDX-License-Identifier: BSD-3-Clause */
/* Results: what was measured how often, and what it takes; as CSV, and for figures. */
#ifndef ZIPBENCH_ENDPOINTS_SHEET_H
#define ZIPBENCH_ENDPOINTS_SHEET_H

#include "zipbench/endpoints/figure.h"
#include "common/endpoint/account.h"
#include "zipbench/endpoints/options.h"

#define SHEET_ROUNDS_MAX 1000

struct sheet_row {
	char group[24]; /* what is swept; a figure each */
	char line[FIGURE_NAME_MAX], x[24];
	unsigned threads, processes, size;
	uint64_t messages;	/* of a round */
	double *rate, *seconds; /* of each round: messages a second, and how long they took */
	unsigned rounds;
	struct zaccount account; /* predicted for mlx5 */
};

struct sheet {
	struct sheet_row *row;
	size_t n, cap;
	unsigned rounds;
};

/* A new row, or NULL. Names without commas: they are fields of a CSV line. */
struct sheet_row *sheet_add(struct sheet *, const char *group, const char *line, const char *x);
void sheet_note(struct sheet_row *, uint64_t messages, double rate, double seconds);
double sheet_rate(const struct sheet_row *); /* median */
/* Predicts what `processes` such plans take. 0 or a negative errno with text. */
int sheet_predict(struct sheet_row *, const struct zep_plan *, unsigned processes, struct zerr *);
/* To the file, or standard output if NULL. Medians. 0 or a negative errno with text. */
int sheet_write(const struct sheet *, const char *path, struct zerr *);
/* A figure of one group: the rates, and QPs, CQs, UARs and uUARs of the first line, of all its places; and the uUARs
 * of lines that take others. */
int sheet_draw(const struct sheet *, const char *group, const char *base, const char *title, bool bars, struct zerr *);
void sheet_free(struct sheet *);

#endif
