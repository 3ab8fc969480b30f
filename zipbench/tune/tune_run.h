/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of "zipbench tune": zipbench coll started by a command of the user's, and what it measured. */
#ifndef ZIPBENCH_TUNE_TUNE_RUN_H
#define ZIPBENCH_TUNE_TUNE_RUN_H

#include "common/base/err.h"

#define TUNE_SIZES_MAX 64

struct tune_job {
	char **command;			   /* [NULL-terminated] words; {} in them stands for the layout */
	const char *layout;		   /* "2+2" */
	const char *program;		   /* zipbench-coll */
	const char *rules;		   /* for ZIPPER_TUNE; "" for the defaults */
	const char *ops, *sizes, *seconds; /* as for zipbench coll */
};

/* Called for every line that was measured: us is the median. */
typedef void tune_line(void *ctx, const char *op, double bytes, int ranks, double us);

/* Runs it to its end. 0 or a negative errno with text. */
int tune_run(const struct tune_job *, tune_line *, void *ctx, struct zerr *);

#endif
