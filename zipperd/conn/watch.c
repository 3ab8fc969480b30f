/* SPDX-License-Identifier: BSD-3-Clause */
/* The epoll sets of the control thread, see watch.h. */
#include "zipperd/conn/watch.h"

#include <errno.h>
#include <sys/epoll.h>

#include "zipperd/conn/daemon.h"

#define EPOLL_BATCH 64

int watch_add(struct daemon *d, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};
	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

void watch_change(struct daemon *d, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};
	epoll_ctl(d->epoll, EPOLL_CTL_MOD, fd, &ev);
}

void watch_remove(struct daemon *d, int fd)
{
	epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd, NULL);
}

int watch_add_hangup(struct daemon *d, int fd, void *owner)
{
	struct epoll_event ev = {.events = EPOLLRDHUP, .data.ptr = owner};
	return epoll_ctl(d->hangups, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

void watch_remove_hangup(struct daemon *d, int fd)
{
	epoll_ctl(d->hangups, EPOLL_CTL_DEL, fd, NULL);
}

int watch_hangups(const struct daemon *d, void **owners, int max)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n = epoll_wait(d->hangups, ev, max < EPOLL_BATCH ? max : EPOLL_BATCH, 0);
	for (int i = 0; i < n; i++)
		owners[i] = ev[i].data.ptr;
	return n < 0 ? 0 : n;
}
