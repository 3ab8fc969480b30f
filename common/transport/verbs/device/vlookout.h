/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The links that asynchronous events and timers of devices wake: of all links that use a device, the receive halves of
 * a few. A woken link handles the events for all (vlife.h). If each event woke all links, the end of many links, which
 * is an event of each, would take work that grows with their square. And Linux refuses a descriptor on which more than
 * 500 nested epoll sets wait (fs/eventpoll.c, path_limits). When one of the few links ends, another link takes its
 * place.
 *
 * Threads: any; set-up.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LOOKOUT_H
#define ZIP_COMMON_TRANSPORT_VERBS_LOOKOUT_H

#include <stdbool.h>

#define VLOOKOUT_FDS 4 /* contexts, and a timer */

struct vlookout { /* a link's */
	struct vlookout *next;
	bool listed;
	int epoll;
	int n, fd[VLOOKOUT_FDS]; /* the descriptors that concern it */
	unsigned on;		 /* the descriptors that its epoll set has, as bits */
};

/* Adds a link whose epoll, n and fd are filled. Returns 0 or a negative errno; then the link is not listed. */
int vlookout_add(struct vlookout *);
/* Removes a link, before its epoll set is closed, and when nobody looks at the set any more. Again has no effect. */
void vlookout_del(struct vlookout *);

#endif
