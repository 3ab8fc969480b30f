/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of completion queues, see vnotice.h. */
#include "common/transport/verbs/link/vnotice.h"

#include <sys/epoll.h>

static bool take_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *ctx;
	if (ibv_get_cq_event(channel, &cq, &ctx) != 0)
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

bool vnotice_take(const struct vqueue *q, enum vnotice *awaits)
{
	if (*awaits == VNOTICE_NONE || !take_event(q->channel))
		return false;
	*awaits = VNOTICE_NONE;
	return true;
}

/* A wish for all events stays where errors would do, as the device does not take it back. */
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

bool vnotice_expect(struct vlink *l, enum vnotice what)
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

/* The event may have been a completion like any other, for which somebody had asked before. Then errors are asked for
 * from now on, and the queue pair is looked at last, as it may have failed in between. The send half's own thread may
 * be polling the queue at the same time, which does no harm: a device that is told an old place in the queue raises the
 * next event at once. */
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
