/* SPDX-License-Identifier: BSD-3-Clause */
/* A communication graph as text for people. */
#ifndef ZIP_MAPPER_SHOW_REPORT_H
#define ZIP_MAPPER_SHOW_REPORT_H

#include <stdio.h>

#include "common/graph/graph.h"
#include "common/base/err.h"
#include "mapper/draw/show.h"

/* Prints totals, heaviest pairs, degrees, calls, times, and what would cross between clusters. name: of the file. 0,
 * -ENOMEM, or -EINVAL: the graph cannot be in such clusters. */
int show_report(FILE *, const char *name, const struct zgraph *, const struct show_options *, struct zerr *);
/* Prints a line for each edge: from, to, bytes, messages. */
void show_report_edges(FILE *, const struct zgraph *);

#endif
