/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving blocks. A block goes straight to its place in the memory that the application gave for the message, in any
 * order. Nothing of an envelope is believed before it was checked: a wrong block fails the group. The context's thread.
 */
#ifndef ZIPCAST_RECEIVE_H
#define ZIPCAST_RECEIVE_H

#include "zipcast/group.h"

/* A BLOCK begins to arrive: where its bytes go, or NULL if no group takes it. The first block of a message asks the
 * application for memory. */
void *zreceive_place(struct node *, const struct zwire_env *);
/* That block is here. */
void zreceive_take(struct node *, const struct zwire_env *);
/* WRITTEN: the node has written a block into our memory. */
void zreceive_written(struct node *, const struct zwire_env *);

#endif
