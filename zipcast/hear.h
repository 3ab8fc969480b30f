/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of other members about a group: READY for the next message; FAIL, which every member passes on so that all
 * hear it; LEAVE, after which the next message is the failure. A word about a group that is not made here yet is kept
 * with the node (node.early). The context's thread.
 */
#ifndef ZIPCAST_HEAR_H
#define ZIPCAST_HEAR_H

#include "zipcast/group.h"

/* READY, FAIL or LEAVE, whose length was checked: READY has ZRMA_KEY_BYTES of payload or none. 0, or -EPROTO: the node
 * has sent more early words than any sound node does. */
int zhear_word(struct node *, const struct zwire_env *, const void *payload);
/* The group is here now: the early words of the member. */
void zhear_early(struct zipcast_group *, struct member *);
/* The group is here now: a node that has spoken of it without being a member makes it fail. */
void zhear_strangers(struct zipcast_group *);

#endif
