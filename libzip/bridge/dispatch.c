/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that come in over the data channels, see dispatch.h. */
#include "libzip/bridge/dispatch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/deliver.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/queue.h"
#include "libzip/bridge/strands.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/breach.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_recv.h"
#include "libzip/stream/transfer_send.h"
#include "libzip/stream/way.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

/* The state of the sender. NULL: the envelope may not come over this channel. */
static struct zremote *sender_of(const struct zchannel *ch, const struct zwire_env *env)
{
	struct zstation *s = ch->station;
	const uint32_t vrank = env->src - s->first;

	if (vrank >= (uint32_t)zworld.nranks || env->dst != s->first + (uint32_t)zworld.vrank ||
		zworld.place[vrank].part != (uint32_t)ch->part)
		return NULL;
	if (ch->peer == ZWIRE_NOBODY)
		return zremote_get_bridged(s, vrank);
	return vrank == ch->peer ? zremote_find(s, vrank) : NULL;
}

void *zdispatch_place(void *ctx, const struct zwire_env *env)
{
	struct zchannel *ch = ctx;

	if (env->kind != ZWIRE_DATA)
		return NULL;
	struct zremote *from = sender_of(ch, env);
	uint8_t *place = from ? ztransfer_recv_place(from, env) : NULL;
	if (place)
		ch->placed = env->xfer;
	return place;
}

/* Takes the first posted receive that can have the message out of the queue. NULL: none. */
static struct zop *match_posted(struct zmatch *match, uint64_t context, uint32_t src, int tag)
{
	struct zmatch_posted *p;

	while ((p = zmatch_find_posted(match, context, src, tag))) {
		struct zop *op = (struct zop *)((char *)p - offsetof(struct zop, match));
		zqueue_withdraw(op);
		if (op->native == MPI_REQUEST_NULL || zanysource_claim(op))
			return op;
		/* Native MPI has matched this receive with a local message: it is complete or will be. */
	}
	return NULL;
}

/* The length of an RTS's payload. zipperd keeps the key to the sender's memory to itself; a rank that is connected
 * sends the key. */
static uint32_t rts_payload(const struct zremote *from, const struct zwire_env *env)
{
	return env->flags & ZWIRE_F_ONE_SIDED && from->channel->peer != ZWIRE_NOBODY ? ZRMA_KEY_BYTES : 0;
}

/* Takes the next message of its stream. 0, or -EAGAIN: no memory. */
static int take_next(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	struct zop *op = match_posted(&from->station->match, env->comm, from->vrank, env->tag);
	int rc = 0;

	if (!op) {
		rc = zqueue_keep(from, way, env, payload);
	} else if (env->flags & ZWIRE_F_STRANDS) {
		zdeliver_strands(op, from, env->xfer, env->tag, env->flags, env->offset);
	} else if (env->kind == ZWIRE_EAGER) {
		if (env->flags & ZWIRE_F_SYNC)
			ztransfer_post_done(from, NULL, env->xfer, 0);
		zop_take_eager(op, from->vrank, env->tag, env->flags, payload, env->len);
	} else {
		const struct ztransfer_rts rts = {.way = way,
			.xfer = env->xfer,
			.total = env->offset,
			.tag = env->tag,
			.flags = env->flags,
			.key = env->len ? payload : NULL};
		ztransfer_recv_start(op, from, &rts);
	}
	if (rc == 0) {
		zpeer_take(&from->stream, env->len);
		zoutgoing_owe(from);
	}
	return rc;
}

/* Holds a message while some before it are still on their way by another track. A single track keeps order: there, a
 * gap means that a message was lost. */
static int hold(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	if (zrails_is_one() || from->channel->peer != ZWIRE_NOBODY || env->seq - from->stream.taken > ZPEER_WINDOW_MSGS)
		return zbreach(from, "its sequence number is not the next one");
	struct zpeer_msg *m = zpeer_msg_create(env, payload);
	if (!m)
		return -EAGAIN;
	m->way = way;
	if (!zpeer_hold(&from->stream, m))
		zpool_put(m);
	return 0;
}

static void take_held(struct zremote *from)
{
	struct zpeer_msg *m;

	while ((m = zpeer_next_held(&from->stream))) {
		if (take_next(from, m->way, &m->env, m->payload) != 0)
			zerror_fatal(1, "out of memory for a message of %u bytes", m->env.len);
		zpool_put(m);
	}
}

static bool is_well_formed(const struct zremote *from, const struct zwire_env *env)
{
	if (env->kind == ZWIRE_RTS)
		return env->len == rts_payload(from, env) && !(env->flags & ZWIRE_F_STRANDS);
	return env->flags & ZWIRE_F_STRANDS ? zstrands_check(from, env) : env->offset == env->len;
}

static int take_sequenced(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	int rc;

	if (env->offset > INT64_MAX || !is_well_formed(from, env))
		return zbreach(from, "its length does not fit its kind and flags");
	switch (zpeer_check(&from->stream, env->seq)) {
	case ZPEER_DUP:
		zpeer_repeat_ack(&from->stream);
		zoutgoing_owe(from);
		return 0;
	case ZPEER_GAP:
		return hold(from, way, env, payload);
	case ZPEER_TAKE:
		break;
	}
	rc = take_next(from, way, env, payload);
	if (rc == 0 && __builtin_expect(from->stream.early != NULL, 0))
		take_held(from);
	return rc;
}

/* The way of a message, as its sender calls it: NULL is the usual one. */
static struct zchannel *way_of(const struct zremote *from, struct zchannel *ch)
{
	return ch == from->channel ? NULL : ch;
}

static inline int take(struct zremote *from, struct zchannel *ch, const struct zwire_env *env, const void *payload)
{
	if (zpeer_acked(&from->stream, env->ack) > 0 && from->pending.head)
		zway_make_ready(from);
	switch (env->kind) {
	case ZWIRE_EAGER:
	case ZWIRE_RTS:
		return take_sequenced(from, way_of(from, ch), env, payload);
	case ZWIRE_CTS:
		return ztransfer_send_take_cts(from, env);
	case ZWIRE_DATA:
		return ztransfer_recv_take_data(from, env);
	case ZWIRE_DONE:
		return ztransfer_send_take_done(from, env);
	case ZWIRE_MOVED:
		return ztransfer_recv_take_moved(from, env);
	case ZWIRE_RAILS:
		zfailover_take_rails(from, env);
		return 0;
	case ZWIRE_ASK:
		zfailover_take_ask(from, env);
		return 0;
	case ZWIRE_ACK:
		return 0;
	case ZWIRE_NAK:
		zpeer_nak(&from->stream, env->seq, from->by_list ? NULL : way_of(from, ch));
		return 0;
	case ZWIRE_RESUME:
		if (zpeer_resume(&from->stream))
			zway_make_ready(from);
		return 0;
	case ZWIRE_BYE:
		zoutgoing_leave(from);
		return 0;
	default:
		return -EPROTO;
	}
}

int zdispatch_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zremote *from = sender_of(ctx, env);
	const int rc = from ? take(from, ctx, env, payload) : -EPROTO;

	(void)raw;
	return __builtin_expect(rc == -EPROTO, 0) ? zbreach_note(ctx, env, payload) : rc;
}
