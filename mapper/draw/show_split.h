/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic that would cross if the ranks, in their order, ran in several clusters: a first answer, without a map. */
#ifndef ZIP_MAPPER_SHOW_SPLIT_H
#define ZIP_MAPPER_SHOW_SPLIT_H

#include <stdio.h>

#include "common/base/err.h"
#include "common/graph/graph.h"

/* Prints the bytes and messages between clusters, and an estimate of their time. clusters: as zmpirun's --clusters.
 * name: of the graph's file. A graph with fewer ranks than clusters is an error. 0, -EINVAL or -ENOMEM. */
int show_split_print(FILE *, const char *name, const struct zgraph *, const char *clusters, struct zerr *);

#endif
