/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a connection becomes a node's link. Of two nodes the one with the higher number says HELLO (service CAST, its
 * number as the user, the session as the job). Both then prove that they know the key, by the messages and hashes of
 * ctl.h. guest.h answers, call.h and connect.h ask; both ends come here at last. The context's thread.
 */
#ifndef ZIPCAST_HANDSHAKE_H
#define ZIPCAST_HANDSHAKE_H

#include "zipcast/node.h"

/* Sends a control message at once. 0 or a negative errno; -EAGAIN: no room. */
int zhandshake_say(struct zlink *, const struct zctl_msg *);
/* Prepares the link for messages of a node, where the transport wants that. 0; 1: the other end has not yet said what
 * it can; a negative errno with text. */
int zhandshake_settle(struct zipcast *, struct zlink *, char why[ZIPCAST_WHY_BYTES]);
/* zipperd has connected a bridged node, which has proved itself: takes the link, which is settled. */
void zhandshake_bridged(struct node *, struct zlink *);
/* A bridged node cannot be connected: groups that need it fail. */
void zhandshake_refuse(struct node *, const char *why);

#endif
