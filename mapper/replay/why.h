/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why something happens at its time: the chain of what had to happen before, back to the begin of the program. Each
 * piece has a cause and takes a time; the pieces of a chain add up to the time at its end. Chains share their
 * beginnings, and a piece is kept as long as a chain needs it. The chain of a program's end is its critical path. One
 * thread.
 */
#ifndef ZIP_MAPPER_WHY_H
#define ZIP_MAPPER_WHY_H

#include <stdbool.h>
#include <stdint.h>

enum why_cause {
	WHY_COMPUTE,  /* id: the rank */
	WHY_OVERHEAD, /* of messages, in the rank id */
	WHY_LATENCY,  /* id: 0 */
	WHY_LINK,     /* id: the link, or the node's end (transfer.h), that limits the message */
	WHY_LOCAL,    /* a message inside the node id */
	WHY_CAUSES
};

struct why {
	struct why *before; /* NULL: time 0 */
	double seconds;
	uint32_t phase, id, holds;
	enum why_cause cause;
};

/* Zeroed, it is empty. */
struct why_store {
	struct why *unused; /* by `before` */
	struct why_block *blocks;
	bool failed; /* there was no memory for a piece; the chains lack it */
};

/* Adds a piece to the caller's chain, which becomes the result. Nothing is added for 0 seconds. */
struct why *why_add(struct why_store *, struct why *, uint32_t phase, enum why_cause, uint32_t id, double seconds);
/* Another hold of the chain, which may be NULL. */
static inline struct why *why_hold(struct why *w)
{
	if (w)
		w->holds++;
	return w;
}
/* Gives up a hold; w may be NULL. */
void why_drop(struct why_store *, struct why *w);
void why_free(struct why_store *);

#endif
