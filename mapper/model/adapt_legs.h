/* SPDX-License-Identifier: BSD-3-Clause */
/* Legs between links and messages: sums that many messages of a forked network share. */
#ifndef ZIP_MAPPER_ADAPT_LEGS_H
#define ZIP_MAPPER_ADAPT_LEGS_H

#include "mapper/model/adapt_state.h"

int adapt_legs_create(struct adapt *); /* 0 or -ENOMEM */
void adapt_legs_destroy(struct adapt *);
/* Are there enough messages to be worth the passes over all legs? */
bool adapt_legs_many(const struct adapt *, uint64_t messages);
/* Where dense: fill copies cells to legs before a pass over the messages; flush adds the sums of legs to the cells
 * after it. */
void adapt_legs_fill(struct adapt *);
void adapt_legs_flush(struct adapt *);

#endif
