/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Being told of completions: each queue is asked for one event at a time. How the send half sleeps, and who is told of
 * its completions: its own thread of all while it waits for one, else the receive half's of errors alone.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "common/transport/verbs/rma.h"

bool vnotice_take(const struct vqueue *q, enum vnotice *awaits)
{
	if (*awaits == VNOTICE_NONE || !vlink_event(q->channel))
		return false;
	*awaits = VNOTICE_NONE;
	return true;
}

/* Of all also where errors would do: the device does not go back. */
bool vnotice_await(const struct vqueue *q, enum vnotice *awaits, enum vnotice wanted)
{
	vnotice_take(q, awaits);
	if (*awaits < wanted) {
		if (ibv_req_notify_cq(q->cq, wanted == VNOTICE_ERRORS) != 0)
			return false;
		*awaits = wanted;
	}
	return true;
}

static void watch_sender(struct vlink *l, bool quiet)
{
	struct epoll_event e = {.events = quiet ? VWATCH_SENDER : 0, .data.fd = l->tx.queue.channel->fd};
	l->tx.quiet = quiet;
	epoll_ctl(l->rx.epoll, EPOLL_CTL_MOD, e.data.fd, &e);
}

/* This half's thread is told of all, or the receive half's of errors. */
static bool await(struct vlink *l, enum vnotice what)
{
	struct vtx *tx = &l->tx;
	const bool quiet = what == VNOTICE_ERRORS;
	pthread_mutex_lock(&tx->noticing);
	const bool good = vnotice_await(&tx->queue, &tx->awaits, what);
	if (tx->quiet != quiet)
		watch_sender(l, quiet);
	pthread_mutex_unlock(&tx->noticing);
	return good;
}

/* What was awaited may have been a completion like any other, which was asked for before: then of errors from now on,
 * and the queue pair is looked at last, as it may have failed in between. That its own thread may be polling the queue
 * does no harm: a device that is told of an old place in it raises the next event at once. */
bool vnotice_of_sender(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	pthread_mutex_lock(&tx->noticing);
	const bool quiet = tx->quiet, good = !quiet || vnotice_await(&tx->queue, &tx->awaits, VNOTICE_ERRORS);
	pthread_mutex_unlock(&tx->noticing);
	if (!good)
		return true;
	return quiet && ibv_query_qp(tx->queue.qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR;
}

/* About to sleep: of all, to this half's thread. */
static int expect_all(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->armed)
		vlink_woken(l, tx->epoll);
	if (vtx_ring(l) != 0 || !await(l, VNOTICE_ALL))
		return -EIO;
	tx->armed = true;
	return vtx_reap(l);
}

int vtx_expect_errors(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	vlink_woken(l, tx->epoll);
	tx->armed = false;
	if (!await(l, VNOTICE_ERRORS) && !tx->failing)
		tx->failing = -EIO;
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
	tx->waits = false;
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
