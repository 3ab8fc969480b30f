/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the send half sleeps, and who is told of its completions: its own thread of all while it waits for one, else the
 * receive half's of errors alone.
 */
#include <sys/epoll.h>

#include "rma.h"

static void watch_sender(struct vlink *l, bool quiet)
{
	struct epoll_event e = {.events = quiet ? VWATCH_SENDER : 0, .data.fd = l->tx.queue.channel->fd};
	atomic_store_explicit(&l->tx.quiet, quiet, memory_order_release);
	epoll_ctl(l->rx.epoll, EPOLL_CTL_MOD, e.data.fd, &e);
}

static void look_around(struct vlink *l)
{
	while (vlink_event(l->tx.queue.channel))
		;
	vlink_woken(l, l->tx.epoll);
}

/* About to sleep: of all, to this half's thread. */
static int expect_all(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->armed)
		look_around(l);
	else
		watch_sender(l, false);
	if (vtx_ring(l) != 0 || ibv_req_notify_cq(tx->queue.cq, 0) != 0)
		return -EIO;
	tx->armed = true;
	return vtx_reap(l);
}

int vtx_expect_errors(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	look_around(l);
	tx->armed = false;
	if (ibv_req_notify_cq(tx->queue.cq, 1) != 0 && !tx->failing)
		tx->failing = -EIO;
	watch_sender(l, true);
	return vtx_reap(l);
}

/* --- sleeping --- */

static void watch_stream(struct vlink *l, bool room)
{
	struct vtx *tx = &l->tx;
	struct epoll_event e = {.events = EPOLLRDHUP | (room ? EPOLLOUT : 0)};
	if (tx->watches_out != room)
		epoll_ctl(tx->epoll, EPOLL_CTL_MOD, l->life.sock, &e);
	tx->watches_out = room;
}

static bool can_go_on(const struct vtx *tx)
{
	if (vrma_any_done(tx->rma, tx->writes))
		return true;
	bool wanted = tx->rest_at < tx->rest_len || tx->refused;
	if (!wanted && tx->writes)
		return false;
	return tx->limit != tx->sent && vtx_has_slot(tx) && (!tx->want_buffer || vtx_may_have_buffer(tx));
}

static int arm_queue(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	watch_stream(l, false);
	return expect_all(l) != 0 || vlink_hung_up(l) || can_go_on(tx);
}

/* Writes are under way while messages go over TCP still. */
static int arm_writes(struct vlink *l)
{
	return expect_all(l) != 0 || vrma_any_done(l->tx.rma, l->tx.writes);
}

int vtx_arm(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->failing)
		return 1;
	if (tx->epoll < 0)
		return l->stream->ops->arm(l->stream, ZLINK_TX);
	if (tx->mode == VMODE_QUEUE)
		return arm_queue(l);
	int rc = vtx_change_over(l);
	if (rc == 0)
		return 1;
	bool room = rc > 0 ? l->stream->ops->arm(l->stream, ZLINK_TX) != 0 : rc != -EAGAIN;
	watch_stream(l, !room);
	return tx->writes ? arm_writes(l) : room;
}
