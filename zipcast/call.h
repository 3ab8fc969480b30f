/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls: connections to nodes on other fabrics, from the answer of zipperd until the other end has proved which node it
 * is. Both of two such nodes ask their zipperd for a circuit of the same name (connect.h; MEET in ctl.h). Once it
 * has connected them, the link is like any other: the node with the higher number is the other's guest. The context's
 * thread.
 */
#ifndef ZIPCAST_CALL_H
#define ZIPCAST_CALL_H

#include "common/control/ctl.h"
#include "zipcast/context.h"

enum call_state {
	CALL_MEETS,	/* waits until the other end has asked, too */
	CALL_CONNECTED, /* the other end will say HELLO: the call becomes a guest */
	CALL_GREETS,	/* we have said HELLO */
	CALL_PROVES,	/* we have proved that we know the key */
	CALL_PROVED	/* so has the other end: the call becomes the node's link */
};

struct call {
	struct list of_context; /* in zipcast.calls */
	struct node *node;
	struct cast_link link;
	enum call_state state;
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	char why[ZIPCAST_WHY_BYTES];
};

/* Takes the link to zipperd in any case. 0 or a negative errno with text. */
int zcall_add(struct node *, struct zlink *, char why[ZIPCAST_WHY_BYTES]);
/* A turn of all calls. True: something happened. */
bool zcall_turn(struct zipcast *);
void zcall_close(struct zipcast *, struct call *);

#endif
