/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is woken by asynchronous events and timers of devices: of all links that have to do with one, the receiving
 * halves of a few. Whoever it is looks for all (device.h). If all were woken by each, the end of many links, which is
 * an event of each, would be work that grows with their square; and Linux refuses a descriptor that more than 500 epoll
 * sets within others wait for (fs/eventpoll.c, path_limits). When one of the few ends, another link takes its place.
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
	int n, fd[VLOOKOUT_FDS]; /* what concerns it */
	unsigned on;		 /* those that its epoll set has, as bits */
};

/* epoll and fd are filled. 0 or a negative errno: then it is not listed. */
int vlookout_add(struct vlookout *);
/* Before the epoll set is closed, and when nobody looks at it any more; again has no effect. */
void vlookout_del(struct vlookout *);

#endif
