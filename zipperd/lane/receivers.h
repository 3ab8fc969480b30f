/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of receivers that a source has sent (wire.h, RECEIVERS): it holds for its messages to several ranks until
 * the next list comes. Worker's thread. */
#ifndef ZIPPERD_RECEIVERS_H
#define ZIPPERD_RECEIVERS_H

#include "zipperd/lane/half.h"
#include "zipperd/memory/pool.h"

static inline const uint8_t *receivers_at(const struct source *s, uint32_t i)
{
	return s->receivers->payload + (size_t)i * ZWIRE_RECEIVER_BYTES;
}

static inline uint32_t receivers_count(const struct source *s)
{
	return s->receivers->len / ZWIRE_RECEIVER_BYTES;
}

/* The message to the receiver that is next in the list. env: the message to all. */
static inline struct zwire_env receivers_next(const struct source *s, const struct zwire_env *env)
{
	struct zwire_env one = *env;
	struct zwire_receiver r;
	zwire_get_receiver(&r, receivers_at(s, s->next_receiver));
	one.dst = r.dst;
	one.seq = env->kind == ZWIRE_DATA ? 0 : r.seq;
	one.ack = r.ack;
	one.xfer = r.xfer;
	return one;
}

/* A list has come: checks and keeps it. 0; -EAGAIN: no memory; -EPROTO: no rank sends that. */
int receivers_take(struct source *, const struct zwire_env *, const void *payload);
/* The current message has been handed to all receivers, or never will be. */
void receivers_release(struct worker *, struct source *);
/* The source is lost or dropped: frees its list. */
void receivers_source_gone(struct worker *, struct source *);

#endif
