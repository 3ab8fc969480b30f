/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, see vwindow.h. */
#include "common/transport/verbs/link/vwindow.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>

#include "common/base/clock.h"
#include "common/transport/verbs/link/vpath.h"
#include "common/transport/verbs/link/vrx.h"
#include "common/transport/verbs/link/vtx_queue.h"

#define SPIN_TURNS 100	 /* some microseconds: longer than an idle device needs */
#define YIELD_TURNS 1000 /* about a millisecond; then the thread sleeps between two looks */

static int half_error(struct vlink *l, enum zlink_half half)
{
	if (vlink_lost(l))
		return vlink_lost(l);
	return half == ZLINK_TX ? vtx_queue_reap(l) : vrx_reap(l);
}

static struct ibv_qp *queue_of(struct vlink *l, enum zlink_half half)
{
	return half == ZLINK_TX ? l->tx.queue.qp : l->rx.queue.qp;
}

/* Looks at what wakes a sleeping half: ports, devices, the end of the TCP connection. */
static void look_around(struct vlink *l, enum zlink_half half)
{
	vlink_look(l);
	/* The device would give up sends to a dead peer only seconds later. */
	if (vlink_hung_up(l))
		vpath_give_up(queue_of(l, half));
}

int vwindow_wait(struct vlink *l, enum zlink_half half, int64_t ms)
{
	const struct vdone *done = half == ZLINK_TX ? &l->tx.local : &l->rx.local;
	int64_t end = 0;
	int rc = half_error(l, half);
	for (unsigned turns = 1; rc == 0 && !done->done; turns++) {
		if (turns % VLOOK_EVERY == 0 || turns > YIELD_TURNS) {
			const int64_t now = zclock_ms();
			end = end ? end : now + ms;
			if (now >= end)
				return -EINPROGRESS;
			look_around(l, half);
		}
		if (turns > YIELD_TURNS)
			poll(NULL, 0, 1);
		else if (turns > SPIN_TURNS)
			sched_yield();
		rc = half_error(l, half);
	}
	return done->done ? done->rc : rc;
}

/* Hands the device a request. */
static int post(struct vlink *l, enum zlink_half half, const struct ibv_send_wr *what)
{
	struct vdone *done = half == ZLINK_TX ? &l->tx.local : &l->rx.local;
	int rc = half_error(l, half);
	if (rc != 0)
		return rc;
	*done = (struct vdone){.done = false};
	if (half == ZLINK_TX) {
		struct ibv_sge *sge;
		struct ibv_send_wr *wr = vtx_queue_next(l, &sge), kept = *wr;
		*wr = *what;
		wr->wr_id = vtag_make(VTAG_LOCAL, vtag_number(kept.wr_id), 0);
		wr->send_flags = IBV_SEND_SIGNALED;
		return vtx_queue_ring(l);
	}
	struct ibv_send_wr *bad, wr = *what;
	wr.wr_id = vtag_make(VTAG_LOCAL, 0, 0);
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(l->rx.queue.qp, &wr, &bad) == 0 ? 0 : -EIO;
}

int vwindow_bind(struct vlink *l, enum zlink_half half, struct ibv_mw *mw, struct ibv_mr *mr, void *base, size_t len,
	int64_t ms)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = mr,
		.addr = (uintptr_t)base,
		.length = len,
		.mw_access_flags = half == ZLINK_TX ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE};
	int rc = post(l, half, &wr);
	if (rc == 0)
		rc = vwindow_wait(l, half, ms);
	if (rc == 0)
		mw->rkey = wr.bind_mw.rkey;
	return rc;
}

int vwindow_unbind(struct vlink *l, enum zlink_half half, struct ibv_mw *mw, int64_t ms)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = mw->rkey};
	int rc = vwindow_wait(l, half, ms); /* for one that may be on its way */
	if (rc == 0)
		rc = post(l, half, &wr);
	if (rc == 0)
		rc = vwindow_wait(l, half, ms);
	if (rc == -EINPROGRESS)
		vpath_give_up(queue_of(l, half));
	return rc;
}
