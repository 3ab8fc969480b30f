/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving from nodes that have a link, and the loss of links. The context's thread. */
#ifndef ZIPCAST_POLL_H
#define ZIPCAST_POLL_H

#include "zipcast/node.h"

/* Takes some messages of the node's link and passes them on: blocks to receive.h, words to hear.h. > 0: something came;
 * 0: nothing; -EAGAIN: nothing, the link has no room; other errors: the link was lost. */
int zpoll_node(struct node *);
/* Closes the node's link. Groups that need the node fail with this text; NULL: they end otherwise. */
void zpoll_lose(struct node *, const char *why);

#endif
