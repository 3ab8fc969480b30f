/* SPDX-License-Identifier: BSD-3-Clause */
/* How the send half sleeps, see vtx_sleep.h. */
#include "common/transport/verbs/link/vtx_sleep.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/transport/verbs/link/vnotice.h"
#include "common/transport/verbs/link/vrma_slot.h"
#include "common/transport/verbs/link/vswitch.h"
#include "common/transport/verbs/link/vtx_queue.h"
#include "common/transport/verbs/link/vwake.h"

/* Before sleeping: this half's thread is told of all completions. */
static int expect_all(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->armed)
		vwake_look(l, tx->epoll);
	if (vtx_queue_ring(l) != 0 || !vnotice_expect(l, VNOTICE_ALL))
		return -EIO;
	tx->armed = true;
	return vtx_queue_reap(l);
}

int vtx_sleep_expect_errors(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	vwake_look(l, tx->epoll);
	tx->armed = false;
	if (!vnotice_expect(l, VNOTICE_ERRORS) && !tx->failing)
		tx->failing = -EIO;
	return vtx_queue_reap(l);
}

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
	if (vrma_slot_any_done(tx->rma, tx->writes))
		return true;
	bool wanted = tx->rest_at < tx->rest_len || tx->refused;
	if (!wanted && tx->writes)
		return false;
	return tx->limit != tx->sent && vtx_queue_has_slot(tx) && (!tx->want_buffer || vtx_queue_may_have_buffer(tx));
}

static int arm_queue(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	tx->waits = false;
	watch_stream(l, false);
	return expect_all(l) != 0 || vlink_hung_up(l) || can_go_on(tx);
}

/* Writes are under way while messages still go over TCP. */
static int arm_writes(struct vlink *l)
{
	return expect_all(l) != 0 || vrma_slot_any_done(l->tx.rma, l->tx.writes);
}

int vtx_sleep_arm(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->failing)
		return 1;
	if (tx->epoll < 0)
		return l->stream->ops->arm(l->stream, ZLINK_TX);
	if (tx->mode == VMODE_QUEUE)
		return arm_queue(l);
	int rc = vswitch_change_over(l);
	if (rc == 0)
		return 1;
	bool room = rc > 0 ? l->stream->ops->arm(l->stream, ZLINK_TX) != 0 : rc != -EAGAIN;
	watch_stream(l, !room);
	return tx->writes ? arm_writes(l) : room;
}
