/* SPDX-License-Identifier: BSD-3-Clause */
/* What "zipbench tune" tries: candidates, sizes and layouts, as the options and the command ask for them. */
#ifndef ZIPBENCH_TUNE_TUNE_TRIES_H
#define ZIPBENCH_TUNE_TUNE_TRIES_H

#include "zipbench/tune/tune_state.h"

/* Fills candidates, sizes and layouts. 0 or a negative errno with text that names the option. */
int tune_tries_choose(struct tune *, struct zerr *);

#endif
