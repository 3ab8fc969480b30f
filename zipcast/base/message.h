/* SPDX-License-Identifier: BSD-3-Clause */
/* The message that a group moves now: its blocks, which of them are here, and this member's plan for sending them. */
#ifndef ZIPCAST_MESSAGE_H
#define ZIPCAST_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/castplan/castplan.h"

struct message {
	bool active;	 /* a message is under way */
	uint64_t number; /* 1, 2, ...: of this message, or of the last one if none is active */
	uint8_t *data;	 /* the application's memory */
	uint64_t bytes;
	uint32_t blocks, missing;
	uint8_t *have; /* [blocks] bits: the blocks that are here; NULL: the root, which has all */
	struct zcastplan *plan;
	struct zcastplan_step step; /* the next step in which this member sends */
	bool sending;		    /* there is such a step */
};

/* Begins message number + 1. The plan follows the shape's algorithm, members and sites; its blocks are not looked at.
 * member: this member's place; 0: the root. 0 or -ENOMEM. */
int zmessage_begin(struct message *, const struct zcastplan_shape *, uint32_t member, void *data, uint64_t bytes,
	uint32_t block_bytes);
/* Frees everything but the number. */
void zmessage_drop(struct message *);

/* Goes to the next step in which this member sends. */
static inline void zmessage_advance(struct message *m)
{
	do
		m->sending = zcastplan_next(m->plan, &m->step);
	while (m->sending && m->step.to == ZCASTPLAN_NOBODY);
}

static inline bool zmessage_has(const struct message *m, uint32_t block)
{
	return !m->have || (m->have[block / 8] >> block % 8 & 1);
}

#endif
