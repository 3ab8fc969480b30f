/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's side of events that workers emit. */
#ifndef ZIPPERD_CREW_EVENT_H
#define ZIPPERD_CREW_EVENT_H

#include "zipperd/conn/crew.h"

/* For crew_poll. */
void crew_event(struct daemon *, const struct event *);

#endif
