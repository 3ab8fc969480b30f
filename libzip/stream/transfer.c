/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of transfers, and what both halves share, see transfer.h. */
#include "libzip/stream/transfer.h"

#include <assert.h>
#include <errno.h>

#include "libzip/stream/breach.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/idtab.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

/* The low bits are an id of zidtab. The number above them never repeats: a message that comes late, by another rail,
 * finds no transfer. */
#define ID_MASK ((UINT32_C(1) << ZIDTAB_ID_BITS) - 1)

enum ztransfer_one_sided ztransfer_one_sided;

void ztransfer_init(enum ztransfer_one_sided one_sided)
{
	ztransfer_one_sided = one_sided;
}

/* Is a one-sided transfer wanted for a message of so many bytes? auto: from the size on from which it is faster. */
static bool is_worth_it(const struct zrma *rma, uint64_t bytes)
{
	return ztransfer_one_sided == ZTRANSFER_ONE_SIDED_YES ||
	       (ztransfer_one_sided == ZTRANSFER_ONE_SIDED_AUTO && bytes >= rma->min_bytes);
}

struct zchannel *ztransfer_way(const struct zop *op)
{
	return op->t.way ? op->t.way : op->remote->channel;
}

/* One-sided operations with the station that the channel is for; NULL: there are none. */
static const struct zrma *rma_of(const struct zchannel *ch)
{
	/* The station at the other end is unknown while the choice of a direct link is open, and gone when the peer has
	 * left. */
	if (ch->waiting || !ch->link)
		return NULL;
	/* The link leads to another zipper, which only passes our messages on. The key to our memory would be for that
	 * zipper. */
	if (ch->peer == ZWIRE_NOBODY && zrails_has_hops(ch->by.rail))
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

	assert(!op->t.exposed);
	/* A list of receivers has no place for a key. */
	if (op->t.tied || (op->kind == ZOP_SEND && op->remote->by_list) || !ztransfer_would_expose(ch, op->t.total))
		return false;
	op->t.exposed = link->ops->rma->expose(link, op->kind == ZOP_SEND ? ZLINK_TX : ZLINK_RX, bytes, op->t.total,
				&op->t.exposure) == 0;
	return op->t.exposed;
}

void ztransfer_conceal(struct zop *op)
{
	if (!op->t.exposed)
		return;
	struct zlink *link = ztransfer_way(op)->link;
	op->t.exposed = false;
	link->ops->rma->conceal(link, &op->t.exposure);
}

void ztransfer_give_up(struct zop *op)
{
	if (!op->t.exposed)
		return;
	struct zlink *link = ztransfer_way(op)->link;
	link->ops->rma->give_up(link, op->kind == ZOP_SEND ? ZLINK_TX : ZLINK_RX);
	ztransfer_conceal(op);
}

int ztransfer_add(struct zop *op)
{
	struct zstation *s = zop_station(op);
	uint32_t id = zidtab_add(&s->transfers, op);

	op->t.xfer = id ? ++s->transfer_serial << ZIDTAB_ID_BITS | id : 0;
	op->t.seq = 0;
	op->t.epoch = 0;
	op->t.adrift = op->t.written = op->t.fanned = op->t.carried = false;
	return op->t.xfer ? 0 : -ENOMEM;
}

void ztransfer_begin(struct zop *op)
{
	op->t.counted = ztransfer_way(op)->peer == ZWIRE_NOBODY;
	if (op->t.counted)
		zrails_sending(ztransfer_way(op)->by, op->t.total);
}

void ztransfer_uncount(struct zop *op)
{
	if (op->t.counted)
		zrails_sent(ztransfer_way(op)->by, op->t.total);
	op->t.counted = false;
}

void ztransfer_del(struct zop *op)
{
	ztransfer_uncount(op);
	zidtab_del(&zop_station(op)->transfers, (uint32_t)op->t.xfer & ID_MASK);
	op->t.xfer = 0;
	op->t.way = NULL;
}

void ztransfer_fini(struct zstation *s)
{
	zidtab_fini(&s->transfers);
}

struct zop *ztransfer_find(uint64_t xfer, enum zop_kind kind, const struct zremote *peer)
{
	struct zop *op = zidtab_find(&peer->station->transfers, xfer & ID_MASK);

	return op && op->t.xfer == xfer && op->kind == kind && op->remote == peer ? op : NULL;
}

/* A message without its transfer breaks the protocol. But after the loss of a rail the message may be older than the
 * loss. */
int ztransfer_refuse_stale(const struct zremote *from)
{
	return zrails.losses > 0 ? 0 : zbreach(from, "its transfer does not wait for that");
}

void ztransfer_post_done(struct zremote *to, struct zchannel *way, uint64_t xfer, uint16_t flags)
{
	struct zwire_env env = {.kind = ZWIRE_DONE, .flags = flags, .xfer = xfer};

	zpost_control(to, way, &env, NULL);
}

void ztransfer_each(struct zstation *s, void (*visit)(struct zop *, void *ctx), void *ctx)
{
	for (uint32_t i = 0; i < s->transfers.size; i++)
		if (s->transfers.slot[i].object)
			visit(s->transfers.slot[i].object, ctx);
}

void ztransfer_lose_way(struct zop *op)
{
	ztransfer_uncount(op);
	ztransfer_give_up(op);
	op->t.way = NULL;
	op->t.adrift = true;
}

bool ztransfer_must_finish(const struct zstation *s)
{
	for (uint32_t i = 0; i < s->transfers.size; i++) {
		const struct zop *op = s->transfers.slot[i].object;
		if (op && op->req.orphan)
			return true;
	}
	return false;
}
