/* SPDX-License-Identifier: BSD-3-Clause */
/* Guests: connections from other nodes, until the other end has proved which node it is. The context's thread. */
#ifndef ZIPCAST_GUEST_H
#define ZIPCAST_GUEST_H

#include "common/control/ctl.h"
#include "zipcast/context.h"

struct guest {
	struct list of_context; /* in zipcast.guests */
	struct cast_link link;
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	bool greeted, proved;
	struct node *called; /* the node that zipperd has connected, which the guest must be; NULL: a direct guest */
	uint32_t node;	     /* the number that it gives itself */
	int64_t deadline_ms;
};

/* Accepts some connections that wait at the listener. True: there were some. */
bool zguest_accept(struct zipcast *);
/* A connection that zipperd has made to the node: the guest takes the link from there. 0; -ENOMEM: nothing happened. */
int zguest_add(struct node *, const struct cast_link *);
/* A turn of all guests. True: something happened. */
bool zguest_turn(struct zipcast *);
void zguest_close(struct zipcast *, struct guest *);

#endif
