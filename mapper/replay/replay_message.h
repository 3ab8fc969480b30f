/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a replay from begin to end. A long message waits until its receiver grants it. Of the messages from
 * one rank to another one, one moves at a time. It leaves the network, and arrives a latency later. One thread.
 */
#ifndef ZIP_MAPPER_REPLAY_MESSAGE_H
#define ZIP_MAPPER_REPLAY_MESSAGE_H

#include "mapper/replay/replay_state.h"

/* A message between two ranks, which has not begun. NULL: there is no memory. It is freed when it has arrived at the
 * rank that waits for it. */
struct message *replay_message_new(struct replay *, uint32_t from, uint32_t to, uint64_t bytes);
/* Of a message, and of the request for one, s. */
double replay_message_latency(const struct replay *, struct message *);
/* The following return 0 or -ENOMEM. The message moves once the one before it between the same ranks has moved. */
int replay_message_begin(struct replay *, struct message *, double now);
/* The receiver of a long message was ready at `now`, or before. why: the receiver's. */
int replay_message_grant(struct replay *, struct message *, double now, struct why *why);
/* Its event has come: it moves, or it arrives. */
int replay_message_step(struct replay *, struct message *, double now);
/* It has left the network. arg: the replay. For transfers_create. */
int replay_message_left(void *arg, struct message *, double now);
/* It is where it goes to; a slot that waits for it is done. */
int replay_message_arrive(struct replay *, struct message *, double now);

#endif
