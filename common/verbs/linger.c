/* SPDX-License-Identifier: BSD-3-Clause */
/* The last words of a send half: what was posted arrives before the link goes. */
#include <poll.h>

#include "clock.h"
#include "link.h"

#define LINGER_MS 2000

/* An empty write, which needs no credit and no key, and completes after everything before it. */
static void post_last(struct vlink *l)
{
	struct vbuf **slot = &l->tx.slot[l->tx.tail & l->tx.slot_mask], *unsent = *slot;
	struct ibv_sge *sge;
	struct ibv_send_wr *wr = vtx_next(l, &sge);
	*slot = unsent; /* for fini */
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->num_sge = 0;
	wr->send_flags = IBV_SEND_SIGNALED;
	vtx_ring(l);
}

void vtx_linger(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	int64_t end = zclock_ms() + LINGER_MS;
	tx->stopping = true;
	if (tx->mode != VMODE_QUEUE || tx->failing || vlink_lost(l) || vlink_hung_up(l))
		return;	      /* nobody is there who could get it */
	tx->tail -= tx->list; /* was not flushed */
	tx->sent -= tx->list;
	tx->list = 0;
	if (tx->head != tx->tail)
		post_last(l);
	while (tx->head != tx->tail && vtx_reap(l) == 0 && !vlink_hung_up(l) && zclock_ms() < end) {
		struct pollfd p = {.fd = tx->queue.channel->fd, .events = POLLIN};
		if (ibv_req_notify_cq(tx->queue.cq, 0) == 0 && vtx_reap(l) == 0 && tx->head != tx->tail)
			poll(&p, 1, 10);
	}
	if (tx->head == tx->tail && tx->rest_at == tx->rest_len && !tx->failing &&
		vsetup_tell(l, VFRAME_CLOSE, tx->sent) == 0)
		l->stream->ops->flush(l->stream);
}
