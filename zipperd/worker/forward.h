/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a message through a worker: from the memory of the source's transport to its destination (dest.h), if the
 * rules allow it and there is room. Worker's thread. */
#ifndef ZIPPERD_FORWARD_H
#define ZIPPERD_FORWARD_H

#include "common/wire/wire.h"

/* The zsink.take of all sources. ctx: struct source. 0; -EAGAIN: no memory, the transport is to show the message again;
 * -EPROTO: no rank sends that. */
int forward_take(void *ctx, const struct zwire_env *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);

#endif
