/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of adapt_forks.c: for a batch of messages at once, in arrays. */
#ifndef ZIP_MAPPER_ADAPT_BATCH_H
#define ZIP_MAPPER_ADAPT_BATCH_H

#include "mapper/model/adapt_state.h"

/* Messages whose arithmetic is done at once: all this stays in the first-level cache. */
#define ADAPT_BATCH 64u
/* Of each message, the least on both ways of the first leg, in the middle, and on both ways of the last leg. */
struct adapt_least {
	float first[2][ADAPT_BATCH], middle[ADAPT_BATCH], last[2][ADAPT_BATCH];
};

struct adapt_batch {
	uint32_t units[ADAPT_BATCH];
	struct adapt_least left, share;
	float got[4][ADAPT_BATCH];    /* both ways of the first leg, both of the last */
	uint64_t sum[4][ADAPT_BATCH]; /* the same, in units of a pass's sums */
};

/* What is the same for all messages of a task. */
struct adapt_rule {
	double unit, scale; /* bytes of a unit; of the pass's sums */
	float cutoff;
	bool adaptive;
};

/* left, units -> sum: what the first n messages request of their links. */
void adapt_batch_request(struct adapt_batch *, uint32_t n, const struct adapt_rule *);
/* left, share, units -> got, sum: what they get. */
void adapt_batch_allocate(struct adapt_batch *, uint32_t n, const struct adapt_rule *);
/* Adds it to what messages at.. of the task have; returns how many found something. */
uint32_t adapt_batch_keep(const struct adapt_batch *, uint32_t n, struct adapt_task *, uint64_t at, unsigned iteration);
/* units, and what messages at.. of the task have got -> sum: their bytes in that proportion, evenly if it is nothing.
 * Returns how many have nothing. */
uint32_t adapt_batch_spread(struct adapt_batch *, uint32_t n, const struct adapt_rule *, const struct adapt_task *,
	uint64_t at);

#endif
