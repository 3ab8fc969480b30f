/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of large messages, see rendezvous.h. */
#include "libzip/bridge/rendezvous.h"

#include <assert.h>
#include <errno.h>

#include "libzip/bridge/channel.h"
#include "libzip/shim/station.h"
#include "libzip/world/idtab.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/world/rails.h"
#include "libzip/bridge/rendezvous_parts.h"
#include "libzip/world/world.h"

/* An id of zidtab, and above it a number that never comes again: what comes late by another rail finds nothing. */
#define ID_MASK ((UINT32_C(1) << ZIDTAB_ID_BITS) - 1)

static struct {
	struct zidtab transfers;
	uint64_t serial; /* of the newest one */
} stations[ZSTATIONS_MAX];
#define self (stations[zstation_here])
struct zbridge_params ztransfer_params;

void ztransfer_init(const struct zbridge_params *p)
{
	ztransfer_params = *p;
}

/* Is it wanted for a message of so many bytes? auto: from the size on from which it is faster. */
static bool is_worth_it(const struct zrma *rma, uint64_t bytes)
{
	return ztransfer_params.one_sided == ZBRIDGE_ONE_SIDED_YES ||
	       (ztransfer_params.one_sided == ZBRIDGE_ONE_SIDED_AUTO && bytes >= rma->min_bytes);
}

struct zchannel *ztransfer_way(const struct zop *op)
{
	return op->way ? op->way : op->remote->channel;
}

/* One-sided operations of who is meant at the other end; NULL: it has none. */
static const struct zrma *rma_of(const struct zchannel *ch)
{
	/* None is known while it is to be decided whether there is a direct link, or when its peer has left. */
	if (ch->waiting || !ch->link)
		return NULL;
	/* The link leads to another zipper, which only passes on what we send: a key to our memory would be for that.
	 */
	if (ch->peer == ZWIRE_NOBODY && zrails_has_hops(ch->rail))
		return NULL;
	return ch->link->ops->rma;
}

bool ztransfer_would_expose(const struct zchannel *ch, uint64_t bytes)
{
	const struct zrma *rma = rma_of(ch);

	return rma && is_worth_it(rma, bytes);
}

bool ztransfer_expose(struct zop *op)
{
	struct zchannel *ch = ztransfer_way(op);
	struct zlink *link = ch->link;
	uint8_t *bytes = zop_bytes(op);

	assert(!op->exposed);
	/* A list of receivers has no place for a key. */
	if (op->multicast || (op->kind == ZOP_SEND && op->remote->by_list) || !ztransfer_would_expose(ch, op->total))
		return false;
	op->exposed = link->ops->rma->expose(link, op->kind == ZOP_SEND ? ZLINK_TX : ZLINK_RX, bytes, op->total,
			      &op->exposure) == 0;
	return op->exposed;
}

void ztransfer_conceal(struct zop *op)
{
	if (!op->exposed)
		return;
	struct zlink *link = ztransfer_way(op)->link;
	op->exposed = false;
	link->ops->rma->conceal(link, &op->exposure);
}

void ztransfer_give_up(struct zop *op)
{
	if (!op->exposed)
		return;
	struct zlink *link = ztransfer_way(op)->link;
	link->ops->rma->give_up(link, op->kind == ZOP_SEND ? ZLINK_TX : ZLINK_RX);
	ztransfer_conceal(op);
}

int ztransfer_add(struct zop *op)
{
	uint32_t id = zidtab_add(&self.transfers, op);

	op->xfer = id ? ++self.serial << ZIDTAB_ID_BITS | id : 0;
	op->seq = 0;
	op->epoch = 0;
	op->adrift = op->written = op->restart = op->fanned = op->carried = false;
	return op->xfer ? 0 : -ENOMEM;
}

void ztransfer_begin(struct zop *op)
{
	op->counted = ztransfer_way(op)->peer == ZWIRE_NOBODY;
	if (op->counted)
		zrails_sending(ztransfer_way(op)->rail, op->total);
}

void ztransfer_uncount(struct zop *op)
{
	if (op->counted)
		zrails_sent(ztransfer_way(op)->rail, op->total);
	op->counted = false;
}

void ztransfer_del(struct zop *op)
{
	ztransfer_uncount(op);
	zidtab_del(&self.transfers, (uint32_t)op->xfer & ID_MASK);
	op->xfer = 0;
	op->way = NULL;
}

void ztransfer_fini(void)
{
	zidtab_fini(&self.transfers);
	zgrants_fini();
}

/* Where a send waits that may post fragments. */
static struct zop_list *data_list(const struct zop *op)
{
	return &(op->multicast || op->by_list ? zmulticast_carrier() : ztransfer_way(op))->data;
}

struct zop *ztransfer_find(uint64_t xfer, enum zop_kind kind, const struct zremote *peer)
{
	struct zop *op = zidtab_find(&self.transfers, xfer & ID_MASK);

	return op && op->xfer == xfer && op->kind == kind && op->remote == peer ? op : NULL;
}

/* What makes no sense is a breach; but after the loss of a rail it may be older than that. */
int ztransfer_refuse_stale(void)
{
	return zrails.lost ? 0 : -EPROTO;
}

void ztransfer_post_done(struct zremote *to, struct zchannel *way, uint64_t xfer, uint16_t flags)
{
	struct zwire_env env = {.kind = ZWIRE_DONE, .flags = flags, .xfer = xfer};

	zchannel_post_control(to, way, &env, NULL);
}

/* Sender: the receiver wants it from there on, in fragments. Who has sent all has heard it from a zipper that moved it.
 */
static int take_restart(struct zremote *from, struct zop *op, const struct zwire_env *env)
{
	struct zwire_env moved = {.kind = ZWIRE_MOVED, .flags = ZWIRE_F_RESTART, .xfer = env->comm};

	if (!op) {
		zchannel_post_control(from, NULL, &moved, NULL);
		return 0;
	}
	if (env->offset > op->total || env->seq > env->offset)
		return -EPROTO;
	if (op->multicast)
		zmulticast_part(op);
	if (op->queued)
		zop_list_del(data_list(op), op);
	ztransfer_conceal(op);
	ztransfer_uncount(op);
	op->way = NULL;
	op->by_list = op->adrift = op->fanned = op->carried = false;
	op->peer_xfer = env->comm;
	op->moved = env->seq;
	op->granted = env->offset;
	op->epoch = env->tag;
	if (op->moved < op->granted)
		zop_list_push(data_list(op), op);
	return 0;
}

int ztransfer_take_cts(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_SEND, from);

	if (env->flags & ZWIRE_F_RESTART)
		return take_restart(from, op, env);
	if (!op || env->tag != op->epoch) /* or older than a restart, which came by another rail */
		return ztransfer_refuse_stale();
	if (op->adrift && op->granted > 0) { /* older than what it will say about the rail */
		op->peer_xfer = env->comm;
		return 0;
	}
	if (env->offset > op->total || env->offset < op->granted)
		return -EPROTO;
	op->adrift = op->fanned = false;
	ztransfer_conceal(op); /* the receiver wants fragments */
	op->peer_xfer = env->comm;
	op->granted = env->offset;
	if (op->multicast)
		zmulticast_granted(op);
	else if (op->moved < op->granted && !op->queued)
		zop_list_push(data_list(op), op);
	return 0;
}

int ztransfer_take_done(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_SEND, from);

	if (!op)
		return ztransfer_refuse_stale();
	if (op->queued)
		return -EPROTO; /* a receiver that wants no more grants no more */
	if (op->exposed && from->channel->peer != ZWIRE_NOBODY && !(env->flags & ZWIRE_F_ONE_SIDED))
		from->channel->bytes += op->total; /* it has read them */
	zop_finish_send(op, MPI_SUCCESS);
	return 0;
}

int ztransfer_post_data(struct zop *op)
{
	bool listed = op->multicast || op->by_list;
	struct zlink *link = (listed ? zmulticast_carrier() : ztransfer_way(op))->link;
	uint64_t len = zmulticast_sendable(op), max = zworld.frag_bytes ? zworld.frag_bytes : link->ops->fragment_bytes;
	const uint8_t *bytes = zop_bytes(op);

	if (len > max)
		len = max;
	if (len > link->ops->max_payload)
		len = link->ops->max_payload;
	if (listed)
		return zmulticast_post_data(op, len);
	struct zwire_env env = {.kind = ZWIRE_DATA,
		.xfer = op->peer_xfer,
		.tag = op->epoch,
		.offset = op->moved,
		.len = (uint32_t)len};
	int rc = zchannel_post(op->remote, op->way, &env, bytes + op->moved);
	if (rc == 0)
		op->moved += len;
	return rc;
}

void ztransfer_each(void (*visit)(struct zop *, void *ctx), void *ctx)
{
	for (uint32_t i = 0; i < self.transfers.size; i++)
		if (self.transfers.slot[i].object)
			visit(self.transfers.slot[i].object, ctx);
}

void ztransfer_leave(struct zremote *r)
{
	for (uint32_t i = 0; i < self.transfers.size; i++) {
		struct zop *op = self.transfers.slot[i].object;
		if (!op || op->kind != ZOP_SEND || op->remote != r)
			continue;
		if (op->queued && op->granted > 0)
			zop_list_del(data_list(op), op);
		else if (op->queued)
			continue; /* pending; zoutgoing_pump ends it */
		zop_finish_send(op, MPI_ERR_OTHER);
	}
}

bool ztransfer_must_finish(void)
{
	for (uint32_t i = 0; i < self.transfers.size; i++) {
		const struct zop *op = self.transfers.slot[i].object;
		if (op && op->req.orphan)
			return true;
	}
	return false;
}
