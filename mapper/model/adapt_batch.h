/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of adapt_forks.c for a batch of messages at once, in arrays. */
#ifndef ZIP_MAPPER_ADAPT_BATCH_H
#define ZIP_MAPPER_ADAPT_BATCH_H

#include "mapper/model/adapt_state.h"

/* Messages in a batch. The whole batch stays in the first-level cache. */
#define ADAPT_BATCH 64u
/* For each message, the least number on both ways of the first leg, in the middle, and on both ways of the last leg. */
struct adapt_least {
	float first[2][ADAPT_BATCH], middle[ADAPT_BATCH], last[2][ADAPT_BATCH];
};

struct adapt_batch {
	uint32_t units[ADAPT_BATCH];
	struct adapt_least left, share;
	float got[4][ADAPT_BATCH];    /* on both ways of the first leg, then both ways of the last leg */
	uint64_t sum[4][ADAPT_BATCH]; /* the same, in the units of the pass's sums */
};

/* Numbers that all messages of a task share. */
struct adapt_rule {
	double unit, scale; /* bytes of a unit of traffic; scale of the pass's sums */
	float cutoff;
	bool adaptive;
};

/* From left and units computes sum: the requests of the first n messages at their links. */
void adapt_batch_request(struct adapt_batch *, uint32_t n, const struct adapt_rule *);
/* From left, share and units computes got and sum: the bandwidth that the messages get. */
void adapt_batch_allocate(struct adapt_batch *, uint32_t n, const struct adapt_rule *);
/* Adds got to the bandwidth of messages at.. of the task. Returns the number of messages that have found something. */
uint32_t adapt_batch_keep(const struct adapt_batch *, uint32_t n, struct adapt_task *, uint64_t at, unsigned iteration);
/* From units and from the bandwidth of messages at.. of the task computes sum: their bytes in proportion to the
 * bandwidth, or evenly if a message has none. Returns the number of messages that have none. */
uint32_t adapt_batch_spread(struct adapt_batch *, uint32_t n, const struct adapt_rule *, const struct adapt_task *,
	uint64_t at);

#endif
