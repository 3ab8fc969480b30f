/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refusals: "of src's stream to dest, seq and everything behind it was dropped". The worker remembers the first refused
 * message of a source and tells the source (NAK). It drops the rest of that stream without a word, because the source
 * still has it all. When the queue is down to half its share, refused sources are told to go on (RESUME), RESUME_BATCH
 * at a time. Worker's thread.
 */
#ifndef ZIPPERD_REFUSAL_H
#define ZIPPERD_REFUSAL_H

#include <stdint.h>

#include "common/base/list.h"
#include "zipperd/memory/pool.h"

struct dest;
struct lane;
struct worker;

enum refusal_state {
	REFUSAL_NAK_DUE,    /* NAK is to be sent */
	REFUSAL_HELD,	    /* NAK is sent; the source waits */
	REFUSAL_RESUME_DUE, /* RESUME is to be sent */
	REFUSAL_RESUMED,    /* RESUME is sent; seq is expected */
	REFUSAL_BYE_DUE,    /* the destination is gone: BYE is to be sent */
	REFUSAL_BYE_SAID,
};

struct refusal {
	struct refusal *chain; /* hash bucket */
	struct list of_dest;
	struct list due; /* in worker.due */
	struct dest *dest;
	struct buf *buf; /* the memory that the refusal lies in */
	uint64_t seq;
	uint32_t src; /* station */
	enum refusal_state state;
};
_Static_assert(sizeof(struct refusal) <= POOL_SMALL_BYTES, "refusals live in the smallest buffers");

/* NULL: there is none. */
struct refusal *refusal_find(struct lane *, uint32_t src, const struct dest *);
/* The refusal lives in the buffer. */
struct refusal *refusal_add(struct buf *, uint32_t src, struct dest *, uint64_t seq);
/* pool: that of the buffer. */
void refusal_del(struct pool *, struct refusal *);

/* Refuses src's message seq, unless an earlier one is refused already, and has that told. *spare: a buffer for the
 * refusal where there is no memory; then it becomes NULL. 0 or -EAGAIN. */
int refusal_note(struct worker *, struct dest *, uint32_t src, uint64_t seq, enum refusal_state due,
	struct buf **spare);
/* Queues NAK, RESUME or BYE for the refused source. */
void refusal_tell(struct worker *, struct refusal *, enum refusal_state due);
/* Lets refused sources go on if there is room. */
void refusal_resume(struct worker *, struct dest *);
/* The source of a message that waited for dest, which has left, is told so. *b is the message; the refusal may take its
 * buffer if there is no other memory: then *b becomes NULL. */
void refusal_take_waiting(struct worker *, struct dest *, struct buf **b);
/* Once a round: hands all of worker.due to the opposite worker, which sends it. */
void refusal_send_due(struct worker *);

#endif
