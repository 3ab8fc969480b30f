/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands that read graphs have in common on their command lines: --phase and --class. */
#ifndef ZIP_MAPPER_SELECT_H
#define ZIP_MAPPER_SELECT_H

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/base/err.h"

/* Both take a value into a struct zgraph_select, as args.h wants it. A phase, or "all". 0 or -EINVAL. */
int select_phase(void *select, char *text, struct zerr *);
/* Names of classes, separated by commas. 0 or -EINVAL. */
int select_classes(void *select, char *text, struct zerr *);

#endif
