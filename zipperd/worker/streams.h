/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of a trunk, whose messages are those of many streams (zipperd/lane/stream.h). Worker's thread. */
#ifndef ZIPPERD_STREAMS_H
#define ZIPPERD_STREAMS_H

#include <stdbool.h>

#include "common/wire/wire.h"

struct parcel;
struct source;
struct worker;

/* The take of a trunk's source (transport.h), which is its ctx: gives the message to the source of its stream, or to
 * the control thread. A message that finds no memory, or no source yet, waits in its stream. -EAGAIN: the whole trunk
 * waits: this process has no memory, or the worker does not know the stream yet. */
int streams_take(void *source, const struct zwire_env *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);

/* Once a round, where worker.streams_held is not empty: hands on the messages that have waited. true: something moved.
 */
bool streams_turn(struct worker *);
/* The control thread gives a message back that came just before the stream got its source. The parcel is the callee's.
 */
void streams_say(const struct source *trunk, uint32_t id, struct parcel *);

#endif
