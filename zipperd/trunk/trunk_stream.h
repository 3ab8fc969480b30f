/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of a trunk, as the control thread has them. One that has begun at the other side is a connection, whose
 * messages come from the worker as events. Then its rank attaches, and it is a channel. Control thread. */
#ifndef ZIPPERD_TRUNK_STREAM_H
#define ZIPPERD_TRUNK_STREAM_H

#include "zipperd/trunk/trunk.h"

/* Begins a stream. NULL: out of memory. */
struct zlink *trunk_stream_begin(struct trunk *);
/* EVENT_STREAM: a message of a stream that is no channel, or its end. */
void trunk_stream_hear(struct trunk *, const struct event *);
/* Tells the other side that it is to begin no more streams. */
void trunk_stream_leave(struct trunk *);
/* The trunk is lost: ends the streams that are no channels. The others hear of it from the worker. */
void trunk_stream_end_all(struct trunk *);
/* The worker that has what comes in by the stream's trunk. */
static inline const struct worker *trunk_stream_worker(const struct zlink *z)
{
	return ((const struct stream *)(const void *)z)->rx->worker;
}
/* The stream becomes a channel: from now on workers have it. false: it has ended. */
bool trunk_stream_lend(struct zlink *);
/* The channel has begun: it gets what the stream has said since its ATTACH. */
void trunk_stream_say_rest(struct zlink *);

#endif
