/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocation for messages that ask for all shortest paths of a forked network. */
#ifndef ZIP_MAPPER_ADAPT_FORKS_H
#define ZIP_MAPPER_ADAPT_FORKS_H

#include "mapper/model/adapt_state.h"

/* Runs the pass in work (adapt.pass) over one task. Bytes are spread in one pass, ADAPT_EVEN. Called by many threads at
 * once, with different tasks and workers. */
void adapt_forks_pass(struct adapt *, struct adapt_task *, unsigned worker);

#endif
