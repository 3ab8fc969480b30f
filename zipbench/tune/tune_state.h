/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of "zipbench tune": options, candidates, and their samples. tune_tries.h fills the candidates, tune_want.h
 * finds where they make a difference, tune_run.h measures, tune_table.h writes the table. */
#ifndef ZIPBENCH_TUNE_TUNE_STATE_H
#define ZIPBENCH_TUNE_TUNE_STATE_H

#include <stdbool.h>
#include <stdio.h>

#include "zipbench/base/bench.h"
#include "zipbench/tune/tune_run.h"
#include "zipbench/tune/tune_targets.h"

#define TUNE_CANDIDATES_MAX 64
#define TUNE_LAYOUTS_MAX 16
#define TUNE_ROUNDS_MAX 99

struct tune_options {
	const char *layouts, *sizes, *tries, *output;
	double seconds, margin;
	unsigned rounds;
	bool bridge;
};

/* The points of a target: all sizes of its first operation, then all sizes of the second. */
#define TUNE_POINTS_MAX (2 * TUNE_SIZES_MAX)

struct tune_candidate {		     /* [0]: the defaults */
	char rules[128];	     /* "all leaders=2"; "" */
	char setting[32], value[32]; /* "leaders", "2" */
	bool concerns[TUNE_TARGETS];
};

struct tune_samples {
	bool wanted; /* the candidate makes a difference there; of the defaults: some candidate does */
	double us[TUNE_ROUNDS_MAX];
	unsigned n;
};

struct tune {
	struct tune_options o;
	char **command;
	bool shares; /* the ranks of a cluster share memory, as far as is known: the command is our own */
	char program[BENCH_PATH_MAX];
	struct tune_candidate candidate[TUNE_CANDIDATES_MAX];
	int ncandidates;
	char *layout[TUNE_LAYOUTS_MAX];
	int nlayouts;
	double size[TUNE_SIZES_MAX];
	int nsizes, ranks;
	struct tune_samples (*samples)[TUNE_TARGETS][TUNE_POINTS_MAX]; /* [ncandidates] of this layout */
	double latency_us, bulk_us[2]; /* of a ping-pong: medians of the best job; 0: none yet */
	char bridge[80];	       /* the bridge as a line of the table, or "" */
	FILE *out;
	char *path, *beside; /* of the table's file, and of the file beside it that is written first; or NULL */
	int rules_written;
};

#endif
