/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks without copies, where the transport has one-sided operations (transport.h). The receiver opens the memory of
 * the arriving message to the members that send it blocks; a sender writes them there and says WRITTEN.
 *
 * The links concerned are ordered: WRITTEN comes after the bytes, and so do FAIL and LEAVE. A member that has said FAIL
 * or LEAVE writes no more. Closing memory to a member that still writes would break the link, and other groups with it.
 * The context's thread.
 */
#ifndef ZIPCAST_REMOTE_H
#define ZIPCAST_REMOTE_H

#include "zipcast/group.h"

/* --- the receiver --- */

/* Is our memory to be opened to this member, which then writes its blocks there? The settings, the block size and the
 * link decide, as far as the link is known yet. The member must have a link. */
bool zremote_is_wanted(const struct member *);
/* Opens the memory of the arriving message to the member. False: that cannot be done. */
bool zremote_expose(struct member *);
void zremote_conceal(struct member *);

/* --- the sender --- */

/* Writes len bytes of the message to the same place in the member's memory, and says so. 0; -EAGAIN: later;
 * -EOPNOTSUPP: the block is to be sent as a message. */
int zremote_write(struct member *, uint64_t offset, uint32_t len);
/* Gives up the registrations of the message's memory. To be called when the group's writes are complete. */
void zremote_unpin(struct zipcast_group *);
/* Notes the writes that are complete. True: there were some. */
bool zremote_reap(struct node *);
/* Waits until all writes of the group are complete. False: some are still under way after timeout_ms. */
bool zremote_drain(struct zipcast_group *, int timeout_ms);
/* Stops the writes that are under way: they will be complete soon, and their links broken. */
void zremote_give_up(struct zipcast_group *);

/* --- the end of a node's link --- */

void zremote_before_close(struct node *);
void zremote_after_close(struct node *);

#endif
