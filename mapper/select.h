/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands that read graphs have in common on their command lines: --phase and --class. */
#ifndef ZIP_MAPPER_SELECT_H
#define ZIP_MAPPER_SELECT_H

#include "commgraph.h"
#include "err.h"

/* A phase, or "all". 0 or -EINVAL. */
int select_phase(struct zgraph_select *, const char *text, struct zerr *);
/* Names of classes, separated by commas. 0 or -EINVAL. */
int select_classes(struct zgraph_select *, const char *text, struct zerr *);

#endif
