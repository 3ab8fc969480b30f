/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking messages from sources. Worker's thread. */
#ifndef ZIPPERD_SOURCES_H
#define ZIPPERD_SOURCES_H

#include <stdbool.h>

struct worker;

/* Polls the hot sources, as far as their lanes may take something (deficit.h), and the stalled ones after memory came
 * free. A source without messages goes to epoll after a while. true: something happened, or a lane has to wait for the
 * next round. */
bool sources_poll(struct worker *);

#endif
