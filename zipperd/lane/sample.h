/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that messages take through a worker, of a sample: one message in SAMPLE_EVERY is timed from its receipt
 * until it has been handed to the receiver's link, or has left the receiver's queue for it. Only a timed message costs
 * a look at the clock. Messages to several ranks are not timed. Worker's thread.
 */
#ifndef ZIPPERD_SAMPLE_H
#define ZIPPERD_SAMPLE_H

#include <stdint.h>

#define SAMPLE_EVERY 64
#define SAMPLE_SLOTS 8 /* messages under way that are timed: others are, while some wait in queues */

struct buf;
struct dest;
struct worker;

struct sample_slot {
	int64_t begun_ns;
	struct dest *dest;
	const struct buf *buf; /* in the receiver's queue; NULL: with the link, until the next flush */
};

struct samples {
	uint32_t skipped; /* messages since the last one that was timed */
	uint32_t count;	  /* of slots in use, the first ones */
	struct sample_slot slot[SAMPLE_SLOTS];
};

/* A message for that destination, received at that time, has been delivered. */
void sample_begin(struct worker *, struct dest *, int64_t begun_ns);
/* The links have been flushed. Only if samples.count > 0. */
void sample_flushed(struct worker *);
/* This buffer has left its queue for the link. Only if samples.count > 0. */
void sample_posted(struct worker *, const struct buf *);
/* The destination gives up its queue. */
void sample_forget(struct worker *, const struct dest *);

#endif
