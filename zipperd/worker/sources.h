/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking messages from sources. Worker's thread. */
#ifndef ZIPPERD_SOURCES_H
#define ZIPPERD_SOURCES_H

#include <stdbool.h>

struct worker;

/* About so many bytes are taken in a turn. Then epoll is looked at, as others may have something. */
#define SOURCES_TURN_BYTES (256u << 10)

/* Polls the hot sources, as far as their lanes may take something (deficit.h), and the stalled ones after memory came
 * free. A source without messages goes to epoll after a while. true: something happened, or a lane has taken its part
 * of this round and may have more: the thread must not sleep. */
bool sources_poll(struct worker *);

#endif
