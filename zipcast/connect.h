/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting to other nodes, as an application's thread does it: directly, or for a node on another fabric by asking
 * zipperd for a circuit. It waits as long as the other node, or zipperd, takes to answer.
 */
#ifndef ZIPCAST_CONNECT_H
#define ZIPCAST_CONNECT_H

#include "common/base/err.h"
#include "zipcast/node.h"

/* Checks and takes the config's fabric, zipper, user and user_key. 0 or a negative errno with text. */
int zconnect_init(struct zipcast *, const struct zipcast_config *, struct zerr *);
/* Connects the node if it is not. Threads that need the same node share one attempt and its outcome; a bridged node's
 * groups hear later whether zipperd could connect it. 0 or a negative errno with text. An application's thread. */
int zconnect_node(struct node *, char why[ZIPCAST_WHY_BYTES]);

#endif
