/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurements of the jobs, and their forms: a table with the columns of the OSU benchmarks, lines of CSV, figures.
 */
#ifndef ZIPBENCH_P2P_P2P_RESULTS_H
#define ZIPBENCH_P2P_P2P_RESULTS_H

#include <stdio.h>

#include "common/base/err.h"
#include "zipbench/p2p/p2p_plan.h"
#include "zipbench/p2p/p2p_ways.h"

struct p2p_results {
	const struct p2p_bench *bench;
	const struct p2p_plan *plan;
	const struct p2p_ways *ways;
	unsigned rounds;
	unsigned *count; /* [way][size]: rounds that were put in */
	double *sample;	 /* [way][size][quantity][round] */
};

/* 0, or -ENOMEM. */
int p2p_results_init(struct p2p_results *, const struct p2p_bench *, const struct p2p_plan *, const struct p2p_ways *,
	unsigned rounds);
void p2p_results_free(struct p2p_results *);
/* Puts in a line of a job; one of a size that was not asked for is ignored. */
void p2p_results_put(struct p2p_results *, unsigned way, uint64_t bytes, const double value[P2P_QUANTITIES_MAX]);
/* Forgets what a way has measured: it is left out. */
void p2p_results_drop(struct p2p_results *, unsigned way);

/* Medians of the rounds. A benchmark of one quantity has one table, with a column for each way; one of several has a
 * table for each way. A way without measurements is not shown. */
void p2p_results_print(const struct p2p_results *, FILE *);
/* benchmark,way,bytes,quantity,value */
void p2p_results_write_csv(const struct p2p_results *, FILE *);
/* Draws BASE.svg and BASE.png: a panel for each quantity, a line for each way. 0, or a negative errno with text. */
int p2p_results_draw(const struct p2p_results *, const char *base, struct zerr *);

#endif
