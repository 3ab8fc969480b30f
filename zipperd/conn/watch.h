/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors in the control thread's epoll sets. Control thread. */
#ifndef ZIPPERD_WATCH_H
#define ZIPPERD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* The first member of everything that has a descriptor in the epoll set. */
struct watch {
	void (*ready)(struct watch *);
	bool last; /* after the others that are ready in the same turn */
};

/* events: as of epoll_ctl(2). 0 or -errno. */
int watch_add(struct daemon *, int fd, uint32_t events, struct watch *);
void watch_change(struct daemon *, int fd, uint32_t events, struct watch *);
void watch_remove(struct daemon *, int fd);

/* Remembers when the connection ends. owner is what watch_hangups reports. 0 or -errno. */
int watch_add_hangup(struct daemon *, int fd, void *owner);
void watch_remove_hangup(struct daemon *, int fd);
/* The owners of up to max ended connections, in the order in which these ended. Returns their number. */
int watch_hangups(const struct daemon *, void **owners, int max);

#endif
