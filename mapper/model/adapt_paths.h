/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocation for messages whose paths are drawn. */
#ifndef ZIP_MAPPER_ADAPT_PATHS_H
#define ZIP_MAPPER_ADAPT_PATHS_H

#include "mapper/model/adapt_state.h"

/* Runs the pass in work (adapt.pass) over one task. Called by many threads at once, with different tasks and workers.
 */
void adapt_paths_pass(struct adapt *, struct adapt_task *, unsigned worker);

#endif
