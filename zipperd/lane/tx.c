/* SPDX-License-Identifier: BSD-3-Clause */
/* Full links that are left to epoll, see tx.h. */
#include "zipperd/lane/tx.h"

#include <sys/epoll.h>

#include "zipperd/lane/stream.h"
#include "zipperd/lane/worker.h"

void tx_cool(struct worker *w, struct dest *d)
{
	struct tx *tx = d->tx;
	if (stream_of(tx->zlink)) {
		stream_cool(w, stream_of(tx->zlink));
		return;
	}
	int rc = tx->zlink->ops->arm(tx->zlink, ZLINK_TX);
	if (rc != 0) { /* there is room, or the link is broken: the next round finds out */
		d->tries = 0;
		return;
	}
	uint32_t events = 0;
	tx->fd = tx->zlink->ops->fd(tx->zlink, ZLINK_TX, &events);
	struct epoll_event ev = {.events = events | EPOLLONESHOT, .data.ptr = tx};
	if (epoll_ctl(w->tx_epoll, tx->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, tx->fd, &ev) != 0) {
		d->tries = 0; /* nothing would wake it: it is tried in every round, and the worker does not sleep */
		return;
	}
	tx->in_epoll = true;
	d->cold = true;
	w->cold_txs++;
	list_del(&d->blocked);
}

void tx_unwatch(struct worker *w, struct tx *tx)
{
	if (tx->in_epoll)
		epoll_ctl(w->tx_epoll, EPOLL_CTL_DEL, tx->fd, NULL);
	tx->in_epoll = false;
}
