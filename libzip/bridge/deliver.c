/* SPDX-License-Identifier: BSD-3-Clause */
/* A message and its receive meet, see deliver.h. */
#include "libzip/bridge/deliver.h"

#include "common/wire/wire.h"
#include "libzip/bridge/queue.h"
#include "libzip/bridge/strands.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/op.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_recv.h"
#include "libzip/world/error.h"

static const struct zreq_ops strand_ops = {.name = "receive of a strand", .destroy = zop_destroy};

void zdeliver_strands(struct zop *op, struct zremote *from, uint64_t xfer, int tag, uint16_t flags, uint64_t total)
{
	struct zstrands *s = zstrands_begin_recv(op, from, tag, flags, total);

	/* Also where the message does not fit: then each strand has a receive of no bytes, which fails, and none is
	 * left behind. */
	for (int i = 0; i < s->n; i++) {
		const struct zop_args args = zstrands_recv_args(s, i, xfer);
		struct zop *strand;
		if (zop_create(&strand, &strand_ops, ZOP_RECV, &args, false) != MPI_SUCCESS)
			zerror_fatal(1, "out of memory for a message of %llu bytes", (unsigned long long)total);
		s->strand[i] = &strand->req;
		zop_begin(strand);
		zdeliver_start(strand);
	}
}

/* Gives a message that is in no list any more to a receive, and frees the message. */
static void deliver(struct zqueued *a, struct zop *op)
{
	if (a->flags & ZWIRE_F_STRANDS) {
		zdeliver_strands(op, a->from, a->xfer, a->tag, a->flags, a->total);
	} else if (a->eager) {
		if (a->flags & ZWIRE_F_SYNC) {
			ztransfer_post_done(a->from, NULL, a->xfer, 0);
			zpost_flush(a->from->channel);
		}
		zop_take_eager(op, a->from->vrank, a->tag, a->flags, a->payload, a->total);
	} else {
		struct zchannel *way = a->way ? a->way : a->from->channel;
		const struct ztransfer_rts rts = {.way = a->way,
			.xfer = a->xfer,
			.total = a->total,
			.tag = a->tag,
			.flags = a->flags,
			.key = a->keyed ? a->payload : NULL};
		ztransfer_recv_start(op, a->from, &rts);
		zpost_flush(way);
	}
	zpool_put(a);
}

void zdeliver_detached(struct zqueued *a, struct zop *op)
{
	zqueue_forget(a);
	deliver(a, op);
}

bool zdeliver_try(struct zop *op)
{
	struct zmatch_key key = zqueue_key(op->req.comm, op->context, op->rank, op->tag);
	struct zqueued *a = (struct zqueued *)zmatch_find_unexpected(&zop_station(op)->match, &key);

	if (!a)
		return false;
	zqueue_take_out(a);
	deliver(a, op);
	return true;
}

void zdeliver_start(struct zop *op)
{
	if (!zdeliver_try(op))
		zqueue_post(op);
}
