/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending the blocks of a group's messages, one message at a time. A member sends in the order of its plan, each block
 * as soon as the block is here and the receiver is ready for the message: as a message, or written right into the
 * receiver's memory (remote.h).
 */
#ifndef ZIPCAST_SEND_H
#define ZIPCAST_SEND_H

#include "zipcast/group.h"

/* A runnable group's turn: says READY, begins the next queued message, sends the blocks that can go now, and tells the
 * application of a message that is complete. The context's thread. */
void zsend_progress(struct zipcast_group *);

#endif
