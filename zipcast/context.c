/* SPDX-License-Identifier: BSD-3-Clause */
/* Links in the context's epoll set, see context.h. */
#include "zipcast/context.h"

#include <errno.h>
#include <sys/epoll.h>

int zcontext_watch(struct zipcast *zc, struct cast_link *l, struct zlink *z)
{
	uint32_t rx_events = 0, tx_events = 0;
	*l = (struct cast_link){.zlink = z};
	l->rx_fd = z->ops->fd(z, ZLINK_RX, &rx_events);
	l->tx_fd = z->ops->fd(z, ZLINK_TX, &tx_events);
	struct epoll_event ev = {.events = rx_events};
	return epoll_ctl(zc->epoll, EPOLL_CTL_ADD, l->rx_fd, &ev) == 0 ? 0 : -errno;
}

void zcontext_watch_for_room(struct zipcast *zc, struct cast_link *l, bool watch)
{
	uint32_t rx_events = 0, tx_events = 0;
	if (l->watched == watch)
		return;
	l->watched = watch;
	l->zlink->ops->fd(l->zlink, ZLINK_RX, &rx_events);
	l->zlink->ops->fd(l->zlink, ZLINK_TX, &tx_events);
	bool same = l->tx_fd == l->rx_fd;
	struct epoll_event ev = {.events = !same ? tx_events : watch ? rx_events | tx_events : rx_events};
	epoll_ctl(zc->epoll, same ? EPOLL_CTL_MOD : watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, l->tx_fd, &ev);
}

void zcontext_unwatch(struct zipcast *zc, struct cast_link *l)
{
	zcontext_watch_for_room(zc, l, false);
	epoll_ctl(zc->epoll, EPOLL_CTL_DEL, l->rx_fd, NULL);
}
