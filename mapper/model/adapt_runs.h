/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the messages of a forked network are kept: runs of messages with a link in common. */
#ifndef ZIP_MAPPER_ADAPT_RUNS_H
#define ZIP_MAPPER_ADAPT_RUNS_H

#include "mapper/model/adapt_state.h"

/* Fills in forks and runs of the task. 0 or -ENOMEM. */
int adapt_runs_make(const struct adapt *, struct adapt_task *);

#endif
