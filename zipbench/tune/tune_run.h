/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of "zipbench tune": starts zipbench coll with the user's command, and reads its results. */
#ifndef ZIPBENCH_TUNE_TUNE_RUN_H
#define ZIPBENCH_TUNE_TUNE_RUN_H

#include "common/base/err.h"

#define TUNE_SIZES_MAX 64

struct tune_job {
	char **command;			   /* words, NULL at the end; {} in them stands for the layout */
	const char *layout;		   /* "2+2" */
	const char *program;		   /* zipbench-coll */
	const char *rules;		   /* for ZIPPER_TUNE; "" for the defaults */
	const char *ops, *sizes, *seconds; /* as for zipbench coll */
};

/* Called for every line of results. us: the median. */
typedef void tune_line(void *ctx, const char *op, double bytes, int ranks, double us);

/* Runs the job to its end. 0 or a negative errno with text. */
int tune_run(const struct tune_job *, tune_line *, void *ctx, struct zerr *);

#endif
