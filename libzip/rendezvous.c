/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of large messages, see rendezvous.h. */
#include "rendezvous.h"

#include <assert.h>
#include <errno.h>

#include "channel.h"
#include "fetch.h"
#include "idtab.h"
#include "multicast.h"
#include "outgoing.h"
#include "pool.h"
#include "rails.h"
#include "world.h"

static struct zidtab transfers;
static struct zop_list granting; /* receives that want a larger grant, in turns */
static uint64_t outstanding;	 /* bytes granted and not come, over all transfers */
static struct zbridge_params params;

void ztransfer_init(const struct zbridge_params *p)
{
	params = *p;
}

/* Is it wanted for a message of so many bytes? auto: from the size on from which it is faster. */
static bool is_worth_it(const struct zrma *rma, uint64_t bytes)
{
	return params.one_sided == ZBRIDGE_ONE_SIDED_YES ||
	       (params.one_sided == ZBRIDGE_ONE_SIDED_AUTO && bytes >= rma->min_bytes);
}

static struct zchannel *way_of(const struct zop *op)
{
	return op->way ? op->way : op->remote->channel;
}

bool ztransfer_would_expose(const struct zchannel *ch, uint64_t bytes)
{
	/* None is known while it is to be decided whether there is a direct link, or when its peer has left. */
	const struct zrma *rma = ch->waiting || !ch->link ? NULL : ch->link->ops->rma;

	return rma && is_worth_it(rma, bytes);
}

bool ztransfer_expose(struct zop *op)
{
	struct zchannel *ch = way_of(op);
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
	struct zlink *link = way_of(op)->link;
	op->exposed = false;
	link->ops->rma->conceal(link, &op->exposure);
}

int ztransfer_add(struct zop *op)
{
	op->xfer = zidtab_add(&transfers, op);
	op->seq = 0;
	op->epoch = 0;
	op->adrift = op->written = op->restart = false;
	return op->xfer ? 0 : -ENOMEM;
}

void ztransfer_begin(struct zop *op)
{
	op->counted = way_of(op)->peer == ZWIRE_NOBODY;
	if (op->counted)
		zrails.rail[way_of(op)->rail].sending += op->total;
}

static void uncount(struct zop *op)
{
	if (op->counted)
		zrails.rail[way_of(op)->rail].sending -= op->total;
	op->counted = false;
}

void ztransfer_del(struct zop *op)
{
	uncount(op);
	zidtab_del(&transfers, op->xfer);
	op->xfer = 0;
	op->way = NULL;
}

void ztransfer_fini(void)
{
	zidtab_fini(&transfers);
	granting = (struct zop_list){0};
	outstanding = 0;
}

/* Where a send waits that may post fragments. */
static struct zop_list *data_list(const struct zop *op)
{
	return &(op->multicast || op->by_list ? zmulticast_carrier() : way_of(op))->data;
}

static struct zop *find_transfer(uint64_t xfer, enum zop_kind kind, const struct zremote *peer)
{
	struct zop *op = zidtab_find(&transfers, xfer);

	return op && op->kind == kind && op->remote == peer ? op : NULL;
}

/* How much more the transfer may have granted now; 0: nothing yet. The oldest one is asked first. Every grant wakes
 * everybody on the way, so it waits until there is room for a large one: what is out meanwhile keeps the sender busy.
 */
static uint64_t next_grant(const struct zop *op)
{
	uint64_t window = zworld.rdv_window, free = window > outstanding ? window - outstanding : 0;
	uint64_t want = op->total - op->granted, has = op->granted - op->moved;
	uint64_t least = zworld.frag_bytes ? zworld.frag_bytes : ZTRANSPORT_FRAGMENT_MAX;
	/* A sender that has sent nothing yet may be computing: that keeps less from the others. */
	uint64_t share = op->moved > 0 ? window / 2 : window / 8;

	if (share < least)
		share = least < window ? least : window;
	if (has > share / 2) /* topped up when half is used, so that the sender never stops */
		return 0;
	if (want > share - has)
		want = share - has;
	return want <= free ? want : 0;
}

static void post_cts(struct zop *op)
{
	struct zwire_env env = {.kind = ZWIRE_CTS, .xfer = op->peer_xfer, .comm = op->xfer, .offset = op->granted};

	if (op->offered)
		env.flags = ZWIRE_F_ONE_SIDED;
	op->offered = false; /* answered */
	if (op->restart) {
		env.flags |= ZWIRE_F_RESTART;
		env.seq = op->moved;
		env.tag = op->epoch;
	}
	op->restart = false;
	if (op->exposed)
		env.len = ZRMA_KEY_BYTES;
	zchannel_post_control(op->remote, op->way, &env, op->exposed ? op->exposure.key : NULL);
}

/* Every waiting transfer is asked once, in turns. True: somebody was granted something. */
static bool grant_more(void)
{
	struct zop *last = granting.tail, *op;
	bool did = false;

	while ((op = zop_list_pop(&granting))) {
		bool was_last = op == last;
		uint64_t more = next_grant(op);
		if (more > 0) {
			op->granted += more;
			outstanding += more;
			post_cts(op);
			did = true;
		}
		if (op->granted < op->total)
			zop_list_push(&granting, op);
		if (was_last)
			break;
	}
	return did;
}

/* One-sided, as the sender has offered it. */
static bool take_offer(struct zop *op, const struct ztransfer_rts *rts)
{
	if (!rts->key) {
		if (!ztransfer_expose(op))
			return false;
		op->granted = op->total;
		post_cts(op);
		return true;
	}
	if (params.one_sided == ZBRIDGE_ONE_SIDED_NO || !zfetch_start(op, rts->key))
		return false;
	op->offered = false; /* answered when it is done */
	return true;
}

void ztransfer_start_recv(struct zop *op, struct zremote *from, const struct ztransfer_rts *rts)
{
	const uint64_t total = rts->total;
	int error = zop_check_fit(op, rts->flags, total);

	op->remote = from;
	op->way = rts->way;
	op->peer_xfer = rts->xfer;
	op->total = total;
	op->granted = op->moved = 0;
	op->offered = rts->flags & ZWIRE_F_ONE_SIDED;
	if (error == MPI_SUCCESS && !op->data.dense && total > 0) {
		op->packed = zpool_get(total); /* total is at most the room that the application gave */
		if (!op->packed)
			error = MPI_ERR_NO_MEM;
	}
	if (error == MPI_SUCCESS && total > 0 && ztransfer_add(op) != 0)
		error = MPI_ERR_NO_MEM;
	op->req.status.MPI_TAG = rts->tag;
	if (error != MPI_SUCCESS || total == 0) {
		op->way = NULL;
		ztransfer_post_done(from, rts->way, rts->xfer, rts->flags & ZWIRE_F_ONE_SIDED);
		zop_finish_recv(op, from->vrank, rts->tag, error == MPI_ERR_TRUNCATE ? op->data.bytes : 0, error);
		return;
	}
	if (op->offered && take_offer(op, rts))
		return;
	zop_list_push(&granting, op);
	grant_more();
}

static struct zop *find_fragment(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = find_transfer(env->xfer, ZOP_RECV, from);

	/* Only what was granted, and in order: one rail carries a transfer, and after its loss another one. */
	if (!op || op->exposed || op->fetch || env->tag != op->epoch || env->offset != op->moved ||
		env->len > op->granted - op->moved)
		return NULL;
	return op;
}

uint8_t *ztransfer_place(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = find_fragment(from, env);

	if (!op)
		return NULL;
	return zop_bytes(op) + env->offset;
}

/* What makes no sense is a breach; but after the loss of a rail it may be older than that. */
static int refuse_stale(void)
{
	return zrails.lost ? 0 : -EPROTO;
}

static void all_came(struct zop *op)
{
	int error = MPI_SUCCESS;

	assert(!op->queued);
	if (op->packed)
		error = zdata_unpack(op->packed, op->total, op->buf, op->count, op->type);
	zop_finish_recv(op, op->remote->vrank, op->req.status.MPI_TAG, op->total, error);
}

void ztransfer_fetched(struct zop *op)
{
	op->moved = op->total;
	ztransfer_post_done(op->remote, op->way, op->peer_xfer, 0);
	all_came(op);
}

int ztransfer_take_data(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = find_fragment(from, env);

	if (!op)
		return refuse_stale();
	struct zchannel *way = way_of(op);
	op->moved += env->len;
	outstanding -= env->len;
	if (op->moved == op->total) {
		ztransfer_post_done(from, op->way, op->peer_xfer, 0);
		all_came(op);
	}
	/* At once: there may be much to take until the turn ends, and the sender has used up what it had by then. */
	if (granting.head && grant_more())
		zchannel_flush(way);
	return 0;
}

/* The sender had been told so by the zipper that was lost, which did not come to tell us. */
static int was_moved(struct zop *op)
{
	if (!op || !op->written || op->exposed || op->moved > 0)
		return refuse_stale();
	if (op->queued)
		zop_list_del(&granting, op);
	outstanding -= op->granted;
	op->moved = op->granted = op->total;
	all_came(op);
	return 0;
}

int ztransfer_take_moved(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = find_transfer(env->xfer, ZOP_RECV, from);

	if (env->flags & ZWIRE_F_RESTART)
		return was_moved(op);
	if (!op || !op->exposed || (env->offset != op->total && env->offset != 0))
		return refuse_stale();
	op->moved = env->offset;
	if (op->moved == op->total) {
		all_came(op);
		return 0;
	}
	ztransfer_conceal(op);
	op->offered = true; /* to be declined */
	op->granted = 0;
	zop_list_push(&granting, op);
	grant_more();
	return 0;
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
	uncount(op);
	op->way = NULL;
	op->by_list = op->adrift = false;
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
	struct zop *op = find_transfer(env->xfer, ZOP_SEND, from);

	if (env->flags & ZWIRE_F_RESTART)
		return take_restart(from, op, env);
	if (!op)
		return refuse_stale();
	if (op->adrift && op->granted > 0) { /* older than what it will say about the rail */
		op->peer_xfer = env->comm;
		return 0;
	}
	if (env->offset > op->total || env->offset < op->granted)
		return -EPROTO;
	op->adrift = false;
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
	struct zop *op = find_transfer(env->xfer, ZOP_SEND, from);

	if (!op)
		return refuse_stale();
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
	struct zlink *link = (listed ? zmulticast_carrier() : way_of(op))->link;
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
	for (uint32_t i = 0; i < transfers.size; i++)
		if (transfers.slot[i].object)
			visit(transfers.slot[i].object, ctx);
}

void ztransfer_lose_way(struct zop *op)
{
	uncount(op);
	if (op->kind == ZOP_RECV) {
		if (op->queued)
			zop_list_del(&granting, op);
		if (op->exposed) {
			op->written = true;
			op->granted = op->moved = 0;
		}
	}
	ztransfer_conceal(op);
	op->way = NULL;
	op->adrift = true;
}

void ztransfer_restart(struct zop *op)
{
	if (op->exposed) {
		ztransfer_conceal(op);
		op->written = true;
		op->granted = op->moved = 0;
	}
	if (op->queued)
		zop_list_del(&granting, op);
	outstanding -= op->granted - op->moved;
	op->granted = op->moved;
	op->way = NULL;
	op->adrift = op->offered = false;
	op->restart = true;
	op->epoch = (int32_t)zrails.lost;
	zchannel_unplace(op->xfer); /* what is half there is of the epoch before, and must not come after the rest */
	zop_list_push(&granting, op);
	grant_more();
}

void ztransfer_leave(struct zremote *r)
{
	for (uint32_t i = 0; i < transfers.size; i++) {
		struct zop *op = transfers.slot[i].object;
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
	for (uint32_t i = 0; i < transfers.size; i++) {
		const struct zop *op = transfers.slot[i].object;
		if (op && op->req.orphan)
			return true;
	}
	return false;
}
