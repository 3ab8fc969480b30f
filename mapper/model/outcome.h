/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of one prediction, and the forms in which it is written: table, CSV, JSON, list of links. */
#ifndef ZIP_MAPPER_OUTCOME_H
#define ZIP_MAPPER_OUTCOME_H

#include <stdio.h>

#include "mapper/model/model.h"
#include "mapper/model/link_stats.h"

struct outcome {
	const char *network, *jobs;	 /* as the user gave them */
	const char *placement, *routing; /* short names */
	struct link_stats stats[LINK_STATS_KINDS];
	struct model_result result; /* load is NULL */
	uint64_t messages, local_messages, bytes, local_bytes;
	uint64_t items; /* pairs of points */
	double wall;	/* seconds that the prediction took, including the traffic */
};

/* Prints a table for people. Sizes are in MiB, which the paper calls MB. The head goes before the first outcome. */
void outcome_print_head(FILE *);
void outcome_print(const struct outcome *, FILE *);
/* Writes one line of CSV for each kind of links. Numbers are bytes. */
void outcome_csv_head(FILE *, unsigned bins);
void outcome_csv(const struct outcome *, FILE *);
/* Writes a JSON object. The caller writes the brackets of the array, and the commas between objects. */
void outcome_json(const struct outcome *, FILE *);
/* Writes "placement,routing,link,class,bytes,seconds" for every link. */
void outcome_links_head(FILE *);
void outcome_links(const struct outcome *, const struct net *, const double *load, FILE *);
void outcome_free(struct outcome *);

#endif
