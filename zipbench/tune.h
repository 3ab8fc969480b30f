/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench tune", in four parts: what there is to try, where that makes a difference, what was measured of it, and the
 * table that comes of that. */
#ifndef ZIPBENCH_TUNE_H
#define ZIPBENCH_TUNE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "zipbench/tune_run.h"
#include "common/config/tuning.h"
#include "zipbench/zipbench.h"

#define TUNE_CANDIDATES_MAX 64
#define TUNE_LAYOUTS_MAX 16
#define TUNE_ROUNDS_MAX 99

struct tune_options {
	const char *layouts, *sizes, *tries, *output;
	double seconds, margin;
	unsigned rounds;
	bool bridge;
};

/* What is tuned. What the table calls bytes is the size of zipbench coll, or that of all ranks together. Of gather and
 * scatter it is 0, as only the root knows them: there a setting is itself a size, and one rule holds for all sizes. */
struct tune_target {
	const char *name;
	enum ztuning_collective collective;
	bool times_ranks, whole;
	const char *op[2]; /* of zipbench coll; or NULL */
};
#define TUNE_TARGETS 9
extern const struct tune_target tune_targets[TUNE_TARGETS];

/* What is measured of a target: all sizes of its first operation, and then of the second. */
#define TUNE_POINTS_MAX (2 * TUNE_SIZES_MAX)

struct tune_candidate {		     /* [0]: the defaults */
	char rules[128];	     /* "all leaders=2"; "" */
	char setting[32], value[32]; /* "leaders", "2" */
	bool concerns[TUNE_TARGETS];
};

struct tune_samples {
	bool wanted; /* a choice makes a difference there; of the defaults, any choice */
	double us[TUNE_ROUNDS_MAX];
	unsigned n;
};

struct tune {
	struct tune_options o;
	char **command;
	bool shares; /* the ranks of a cluster share memory, for all that is known: the command is our own */
	char program[BENCH_PATH_MAX];
	struct tune_candidate candidate[TUNE_CANDIDATES_MAX];
	int ncandidates;
	char *layout[TUNE_LAYOUTS_MAX];
	int nlayouts;
	double size[TUNE_SIZES_MAX];
	int nsizes, ranks;
	struct tune_samples (*samples)[TUNE_TARGETS][TUNE_POINTS_MAX]; /* [ncandidates] of this layout */
	double latency_us, bulk_us[2]; /* of a ping-pong: medians of the best job, 0: none yet */
	char bridge[80];	       /* that as a line of the table, or "" */
	FILE *out;
	char *path, *beside; /* of the table, where it goes to a file, and of that until it is whole; or NULL */
	int rules_written;
};

/* Fills candidates, sizes and layouts from the options and the command. 0 or a negative errno with text that names the
 * option. */
int tune_choose(struct tune *, struct zerr *);
/* In a layout as "2+2"; less than 2: nothing is known of it. */
int tune_clusters(const char *layout);
int tune_members_max(const char *layout); /* of the cluster that has the most of them */
int tune_members_min(const char *layout); /* the fewest */
int tune_ranks(const char *layout);
/* Size of a point, as the table calls it. */
double tune_bytes(const struct tune *, int layout, const struct tune_target *, int point);
/* Which points are worth measuring in this layout: those where the collective does something else than by the defaults,
 * as far as the settings alone say. 0 or a negative errno with text. */
int tune_want(struct tune *, int layout, struct zerr *);
/* Rules for what was faster in this layout. Sorts the samples. */
void tune_write_layout(struct tune *, int layout);

#endif
