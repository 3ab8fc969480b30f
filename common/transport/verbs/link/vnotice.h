/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of completion queues. Each queue is asked for one event at a time. While the send half's thread waits for a
 * completion, the send half's queue tells that thread of all completions. Otherwise it tells the receive half's thread
 * of errors alone.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VNOTICE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VNOTICE_H

#include <stdbool.h>

#include "common/transport/verbs/device/vobject.h"
#include "common/transport/verbs/link/vhalf.h"
#include "common/transport/verbs/link/vlink.h"

/* Takes the event that was asked for, if it has been raised. */
bool vnotice_take(const struct vqueue *, enum vnotice *);
/* Takes raised events and asks for the next one, of errors or of all completions. false: the device refuses. */
bool vnotice_await(const struct vqueue *, enum vnotice *, enum vnotice wanted);
/* The send half: from now on its own thread is told of all completions, or the receive half's thread of errors. false:
 * the device refuses. */
bool vnotice_expect(struct vlink *, enum vnotice what);
/* The receive half's thread, when the sender's queue has told of something. true: the send half's queue pair has
 * failed. */
bool vnotice_of_sender(struct vlink *);

#endif
