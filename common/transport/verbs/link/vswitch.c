/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing over from the TCP connection, see vswitch.h. */
#include "common/transport/verbs/link/vswitch.h"

#include "common/transport/verbs/link/vtx_queue.h"

/* Not before the first credit, which also says that the peer's queue pair is up. The peer gives credit when it knows
 * that ours is up. */
static bool may_switch(struct vlink *l)
{
	if (!vlink_is_ready(l))
		return false;
	if (l->connecting && !l->tx.told_ready)
		l->tx.told_ready = vlink_post_frame(l, &(struct vframe){.type = VFRAME_READY}) == 0;
	return vtx_queue_reap(l) == 0 && l->tx.limit != 0;
}

int vswitch_change_over(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	int rc = 0;
	if (tx->error)
		return tx->error;
	if (tx->mode == VMODE_STREAM) {
		if (!may_switch(l))
			return 1;
		rc = vlink_post_frame(l, &(struct vframe){.type = VFRAME_SWITCH});
		if (rc == 0)
			tx->mode = VMODE_SWITCHING;
	}
	if (rc == 0)
		rc = l->stream->ops->flush(l->stream);
	if (rc == 0)
		tx->mode = VMODE_QUEUE;
	return rc;
}
