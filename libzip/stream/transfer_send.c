/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's half of a transfer, see transfer_send.h. */
#include "libzip/stream/transfer_send.h"

#include <errno.h>

#include "libzip/stream/breach.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/tied.h"
#include "libzip/stream/transfer.h"
#include "libzip/world/world.h"

/* The list in which a send waits that may post fragments. */
static struct zoplist *data_list(const struct zop *op)
{
	return &(op->t.group != ZTRANSFER_ALONE ? zchannel_carrier() : ztransfer_way(op))->data;
}

/* The receiver wants fragments, from that byte on. If this send is over, a zipper has moved all bytes and told this
 * rank. */
static int take_restart(struct zremote *from, struct zop *op, const struct zwire_env *env)
{
	struct zwire_env moved = {.kind = ZWIRE_MOVED, .flags = ZWIRE_F_RESTART, .xfer = env->comm};

	if (!op) {
		zpost_control(from, NULL, &moved, NULL);
		return 0;
	}
	if (env->offset > op->t.total || env->seq > env->offset)
		return zbreach(from, "it restarts a transfer beyond its end");
	if (op->t.tied)
		ztied_part(op);
	if (op->queued)
		zoplist_del(data_list(op), op);
	ztransfer_conceal(op);
	ztransfer_uncount(op);
	op->t.way = NULL;
	op->t.group = ZTRANSFER_ALONE;
	op->t.adrift = op->t.fanned = op->t.carried = false;
	op->t.peer_xfer = env->comm;
	op->t.moved = env->seq;
	op->t.granted = env->offset;
	op->t.epoch = env->tag;
	if (op->t.moved < op->t.granted)
		zoplist_push(data_list(op), op);
	return 0;
}

int ztransfer_send_take_cts(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_SEND, from);

	if (env->flags & ZWIRE_F_RESTART)
		return take_restart(from, op, env);
	if (!op || env->tag != op->t.epoch) /* or the CTS is older than a restart that came by another rail */
		return ztransfer_refuse_stale(from);
	if (op->t.adrift && op->t.granted > 0) { /* the CTS is older than the receiver's word on the lost rail */
		op->t.peer_xfer = env->comm;
		return 0;
	}
	if (env->offset > op->t.total || env->offset < op->t.granted)
		return zbreach(from, "it grants more than there is, or less than before");
	op->t.adrift = op->t.fanned = false;
	ztransfer_conceal(op); /* the receiver wants fragments */
	op->t.peer_xfer = env->comm;
	op->t.granted = env->offset;
	if (op->t.tied)
		ztied_granted(op);
	else if (op->t.moved < op->t.granted && !op->queued)
		zoplist_push(data_list(op), op);
	return 0;
}

int ztransfer_send_take_done(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_SEND, from);

	if (!op)
		return ztransfer_refuse_stale(from);
	if (op->queued)
		return zbreach(from, "it ends a transfer of which bytes are still granted");
	if (op->t.exposed && from->channel->peer != ZWIRE_NOBODY && !(env->flags & ZWIRE_F_ONE_SIDED))
		from->channel->bytes += op->t.total; /* the receiver has read the bytes */
	zop_finish_send(op, MPI_SUCCESS);
	return 0;
}

int ztransfer_send_post_data(struct zop *op)
{
	bool listed = op->t.group != ZTRANSFER_ALONE;
	struct zlink *link = (listed ? zchannel_carrier() : ztransfer_way(op))->link;
	uint64_t len = ztied_sendable(op), max = zworld.frag_bytes ? zworld.frag_bytes : link->ops->fragment_bytes;
	const uint8_t *bytes = zop_bytes(op);

	if (len > max)
		len = max;
	if (len > link->ops->max_payload)
		len = link->ops->max_payload;
	if (listed)
		return ztied_post_data(op, len);
	struct zwire_env env = {.kind = ZWIRE_DATA,
		.xfer = op->t.peer_xfer,
		.tag = op->t.epoch,
		.offset = op->t.moved,
		.len = (uint32_t)len};
	int rc = zpost_message(op->remote, op->t.way, &env, bytes + op->t.moved);
	if (rc == 0)
		op->t.moved += len;
	return rc;
}

static void leave(struct zop *op, void *ctx)
{
	const struct zremote *r = ctx;

	if (op->kind != ZOP_SEND || op->remote != r)
		return;
	if (op->queued && op->t.granted > 0)
		zoplist_del(data_list(op), op);
	else if (op->queued)
		return; /* the send is pending: zoutgoing_pump ends it */
	zop_finish_send(op, MPI_ERR_OTHER);
}

void ztransfer_send_leave(struct zremote *r)
{
	ztransfer_each(r->station, leave, r);
}
