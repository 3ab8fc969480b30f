/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a link, see vdrain.h. */
#include "common/transport/verbs/vdrain.h"

#include <errno.h>
#include <poll.h>

#include "common/base/clock.h"
#include "common/transport/verbs/device/vlife.h"
#include "common/transport/verbs/link/vnotice.h"
#include "common/transport/verbs/link/vrx.h"
#include "common/transport/verbs/link/vtx_queue.h"

#define SENDS_MS 2000
#define LAST_MS 500 /* a device needs far less; a device that never tells costs this time once */
#define LOOK_MS 10  /* another thread may have taken the event */

/* Posts an empty write, which needs no credit and no key, and completes after everything before it. */
static void post_last(struct vlink *l)
{
	struct vbuf **slot = &l->tx.slot[l->tx.tail & l->tx.slot_mask], *unsent = *slot;
	struct ibv_sge *sge;
	struct ibv_send_wr *wr = vtx_queue_next(l, &sge);
	*slot = unsent; /* for vtx_queue_fini */
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->num_sge = 0;
	wr->send_flags = IBV_SEND_SIGNALED;
	vtx_queue_ring(l);
}

/* Returns false: nobody is there who could get the posted messages. */
static bool stop_sending(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->mode != VMODE_QUEUE || tx->failing || vlink_lost(l) || vlink_hung_up(l))
		return false;
	for (uint32_t i = 0; i < tx->list; i++) /* drops sends that were not flushed */
		tx->sent -= vtag_of(tx->wr[i].wr_id) == VTAG_SEND;
	tx->tail -= tx->list;
	tx->list = 0;
	if (tx->head != tx->tail)
		post_last(l);
	return true;
}

/* In the thread whose registers of the device these are: its other sends may use the same register without a lock. */
void vdrain_stop_sending(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	if (l->tx.stopping)
		return;
	l->tx.stopping = true;
	l->drain.sends = stop_sending(l);
}

static bool is_sending(struct vlink *l)
{
	const struct vtx *tx = &l->tx;
	return tx->head != tx->tail && vtx_queue_reap(l) == 0 && tx->head != tx->tail && !vlink_hung_up(l);
}

static void say_close(struct vlink *l)
{
	const struct vtx *tx = &l->tx;
	if (tx->head == tx->tail && tx->rest_at == tx->rest_len && !tx->failing &&
		vlink_post_frame(l, &(struct vframe){.type = VFRAME_CLOSE, .count = tx->sent}) == 0)
		l->stream->ops->flush(l->stream);
}

static void stop_receiving(struct vlink *l, int64_t now)
{
	const int64_t end = l->drain.begun_ms + SENDS_MS + LAST_MS; /* also where many links wait one after the other */
	l->drain.step = l->rx.queue.qp && vrx_stop(l) ? VDRAIN_RECEIVES : VDRAIN_DONE;
	l->drain.until_ms = now + LAST_MS < end ? now + LAST_MS : end;
}

int vdrain(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	struct vdrain *d = &l->drain;
	const int64_t now = zclock_ms();
	if (d->step == VDRAIN_NOT) {
		d->begun_ms = now;
		d->until_ms = now + SENDS_MS;
		vdrain_stop_sending(base);
		if (d->sends)
			d->step = VDRAIN_SENDS;
		else
			stop_receiving(l, now);
	}
	if (d->step == VDRAIN_SENDS) {
		if (is_sending(l) && now < d->until_ms && !vrx_is_greedy(l))
			return -EAGAIN;
		say_close(l);
		stop_receiving(l, now);
	}
	if (d->step == VDRAIN_RECEIVES) {
		const bool awaited = vlife_awaits_last(l->dev, &l->life);
		if (awaited && now < d->until_ms)
			return -EAGAIN;
		if (awaited && vlink_is_ready(l)) /* devices of links that are not ready may not tell */
			vlife_lacks_last(l->dev);
		d->step = VDRAIN_DONE;
	}
	return 0;
}

void vdrain_wait(struct vlink *l)
{
	while (vdrain(&l->base) == -EAGAIN) {
		struct pollfd p = {.events = POLLIN};
		if (l->drain.step == VDRAIN_SENDS) {
			p.fd = l->tx.queue.channel->fd;
			if (vnotice_await(&l->tx.queue, &l->tx.awaits, VNOTICE_ALL) && vdrain(&l->base) == 0)
				return;
		}
		if (l->drain.step == VDRAIN_RECEIVES)
			p.fd = l->rx.queue.qp->context->async_fd;
		poll(&p, 1, LOOK_MS);
	}
}
