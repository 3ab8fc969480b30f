/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that all commands share which read graphs: --phase and --class. */
#ifndef ZIP_MAPPER_SELECT_H
#define ZIP_MAPPER_SELECT_H

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/base/err.h"

/* Both functions take an option's value into a struct zgraph_select, as args.h requires. Here: a phase, or "all". 0 or
 * -EINVAL. */
int select_phase(void *select, char *text, struct zerr *);
/* Takes names of classes, separated by commas. 0 or -EINVAL. */
int select_classes(void *select, char *text, struct zerr *);

#endif
