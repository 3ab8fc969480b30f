/* SPDX-License-Identifier: BSD-3-Clause */
/* The causes that wake a half, see vwake.h. */
#include "common/transport/verbs/link/vwake.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/transport/verbs/device/vlife.h"
#include "common/transport/verbs/device/vshare.h"
#include "common/transport/verbs/link/vnotice.h"
#include "common/transport/verbs/link/vtx_queue.h"

/* The send half's queue pair has failed. Its own thread knows the reason, or will find it out; that thread is this one
 * where both halves have one endpoint. */
static int why_sender_failed(struct vlink *l)
{
	const bool ours = l->share[ZLINK_TX]->endpoint == l->share[ZLINK_RX]->endpoint;
	const int rc = ours ? vtx_queue_reap(l) : 0;
	return rc ? rc : -ENOLINK;
}

bool vwake_look(struct vlink *l, int epoll)
{
	struct epoll_event e[VWATCHED];
	struct ibv_context *ctx[VCONTEXTS] = {NULL};
	bool stream = false;
	int n = epoll_wait(epoll, e, VWATCHED, 0), nctx = n > 0 ? vlink_contexts(l, ctx) : 0;
	for (int i = 0; i < n; i++) {
		int k = 0;
		while (k < nctx && e[i].data.fd != ctx[k]->async_fd)
			k++;
		if (k < nctx)
			vlife_look(l->dev, ctx[k]);
		else if (e[i].data.fd == l->dev->timer)
			vlife_look_at_ports(l->dev);
		else if (e[i].data.fd == l->tx.queue.channel->fd) {
			if (epoll == l->rx.epoll && vnotice_of_sender(l))
				l->rx.sender = why_sender_failed(l);
		} else if (e[i].data.fd != l->rx.queue.channel->fd)
			stream = true;
	}
	return stream;
}
