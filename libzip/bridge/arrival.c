/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes in over the data channels, see arrival.h. */
#include "libzip/bridge/arrival.h"

#include <errno.h>
#include <string.h>

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/channel.h"
#include "libzip/world/error.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/world/rails.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/bridge/strands.h"
#include "libzip/world/world.h"

struct zmatch zarrival_match_of[ZSTATIONS_MAX];
static struct {
	struct zarrival *detached; /* by matched probes */
} stations[ZSTATIONS_MAX];
#define self (stations[zstation_here])

int zarrival_init(void)
{
	return zmatch_init(&zarrival_match);
}

void zarrival_fini(void)
{
	self.detached = NULL;
	zmatch_fini(&zarrival_match);
}

/* The state of the rank that it comes from, if it may come over this channel. */
static struct zremote *sender_of(const struct zchannel *ch, const struct zwire_env *env)
{
	const uint32_t vrank = zworld_vrank_of(env->src);

	if (vrank == ZWIRE_NOBODY || env->dst != zworld_station_of((uint32_t)zworld.vrank) ||
		zworld.place[vrank].part != (uint32_t)ch->part)
		return NULL;
	if (ch->peer == ZWIRE_NOBODY)
		return zremote_get_bridged(vrank);
	return vrank == ch->peer ? zremote_find(vrank) : NULL;
}

void *zarrival_place(void *ctx, const struct zwire_env *env)
{
	struct zchannel *ch = ctx;

	if (env->kind != ZWIRE_DATA)
		return NULL;
	struct zremote *from = sender_of(ch, env);
	uint8_t *place = from ? ztransfer_place(from, env) : NULL;
	if (place)
		ch->placed = env->xfer;
	return place;
}

/* The first posted receive that can have the message, out of the queue; NULL: none. */
static struct zop *match_posted(uint64_t context, uint32_t src, int tag)
{
	struct zmatch_posted *p;

	while ((p = zmatch_find_posted(&zarrival_match, context, src, tag))) {
		struct zop *op = (struct zop *)((char *)p - offsetof(struct zop, match));
		zop_withdraw(op);
		if (op->native == MPI_REQUEST_NULL || zanysource_claim(op))
			return op;
		/* Native MPI has matched it with a local message: it is complete or will be. */
	}
	return NULL;
}

static int keep_unexpected(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	struct zarrival *a = zpool_get(sizeof(*a) + env->len);

	if (!a)
		return -EAGAIN; /* shown again when there may be memory */
	a->from = from;
	a->way = way;
	a->context = env->comm;
	a->xfer = env->xfer;
	a->total = env->offset;
	a->tag = env->tag;
	a->flags = env->flags;
	a->eager = env->kind == ZWIRE_EAGER;
	a->keyed = !a->eager && env->len > 0;
	if (env->len > 0) /* else payload may be NULL */
		memcpy(a->payload, payload, env->len);
	zmatch_add_unexpected(&zarrival_match, &a->match, a->context, from->vrank, a->tag);
	return 0;
}

/* Payload that an RTS has: zipperd keeps the key to the sender's memory to itself, a rank that is connected tells it.
 */
static uint32_t rts_payload(const struct zremote *from, const struct zwire_env *env)
{
	return env->flags & ZWIRE_F_ONE_SIDED && from->channel->peer != ZWIRE_NOBODY ? ZRMA_KEY_BYTES : 0;
}

/* The next message of its stream. 0, or -EAGAIN: no memory. */
static int take_next(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	struct zop *op = match_posted(env->comm, from->vrank, env->tag);
	int rc = 0;

	if (!op) {
		rc = keep_unexpected(from, way, env, payload);
	} else if (env->flags & ZWIRE_F_STRANDS) {
		zstrands_recv(op, from, env->xfer, env->tag, env->flags, env->offset);
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
		ztransfer_start_recv(op, from, &rts);
	}
	if (rc == 0) {
		zpeer_take(&from->stream, env->len);
		zoutgoing_owe(from);
	}
	return rc;
}

/* Some before it are still on their way, by another rail. One rail keeps order: then a message was lost. */
static int hold(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	if (zrails.n == 1 || from->channel->peer != ZWIRE_NOBODY || env->seq - from->stream.taken > ZPEER_WINDOW_MSGS)
		return -EPROTO;
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
		return -EPROTO;
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

/* The way that a message has come, as its sender calls it: NULL is the usual one. */
static struct zchannel *way_of(const struct zremote *from, struct zchannel *ch)
{
	return ch == from->channel ? NULL : ch;
}

int zarrival_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zremote *from = sender_of(ctx, env);

	(void)raw;
	if (!from)
		return -EPROTO;
	if (zpeer_acked(&from->stream, env->ack) > 0 && from->pending.head)
		zchannel_add_ready(from);
	switch (env->kind) {
	case ZWIRE_EAGER:
	case ZWIRE_RTS:
		return take_sequenced(from, way_of(from, ctx), env, payload);
	case ZWIRE_CTS:
		return ztransfer_take_cts(from, env);
	case ZWIRE_DATA:
		return ztransfer_take_data(from, env);
	case ZWIRE_DONE:
		return ztransfer_take_done(from, env);
	case ZWIRE_MOVED:
		return ztransfer_take_moved(from, env);
	case ZWIRE_RAILS:
		zfailover_take_rails(from, env);
		return 0;
	case ZWIRE_ASK:
		zfailover_take_ask(from, env);
		return 0;
	case ZWIRE_ACK:
		return 0;
	case ZWIRE_NAK:
		zpeer_nak(&from->stream, env->seq, from->by_list ? NULL : way_of(from, ctx));
		return 0;
	case ZWIRE_RESUME:
		if (zpeer_resume(&from->stream))
			zchannel_add_ready(from);
		return 0;
	case ZWIRE_BYE:
		zoutgoing_leave(from);
		return 0;
	default:
		return -EPROTO;
	}
}

struct zmatch_key zarrival_key(const struct zcomm *c, enum zcomm_context context, int rank, int tag)
{
	uint32_t any = (rank == MPI_ANY_SOURCE ? ZMATCH_ANY_SOURCE : 0) |
		       (tag == MPI_ANY_TAG && context == ZCOMM_PT2PT ? ZMATCH_ANY_TAG : 0);

	return zmatch_key_make(c->id | context, any & ZMATCH_ANY_SOURCE ? 0 : (uint32_t)c->vrank[rank], tag, any);
}

struct zarrival *zarrival_find(const struct zcomm *c, int rank, int tag)
{
	struct zmatch_key key = zarrival_key(c, ZCOMM_PT2PT, rank, tag);

	return (struct zarrival *)zmatch_find_unexpected(&zarrival_match, &key);
}

int zarrival_source(const struct zarrival *a, const struct zcomm *c)
{
	return zcomm_rank_of(c, (int)a->from->vrank);
}

static void take_out(struct zarrival *a)
{
	zmatch_del_unexpected(&zarrival_match, &a->match);
}

void zarrival_detach(struct zarrival *a)
{
	take_out(a);
	a->next = self.detached;
	self.detached = a;
}

/* Of a message that is in no list any more. */
static void deliver(struct zarrival *a, struct zop *op)
{
	if (a->flags & ZWIRE_F_STRANDS) {
		zstrands_recv(op, a->from, a->xfer, a->tag, a->flags, a->total);
	} else if (a->eager) {
		if (a->flags & ZWIRE_F_SYNC) {
			ztransfer_post_done(a->from, NULL, a->xfer, 0);
			zchannel_flush(a->from->channel);
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
		ztransfer_start_recv(op, a->from, &rts);
		zchannel_flush(way);
	}
	zpool_put(a);
}

void zarrival_deliver(struct zarrival *a, struct zop *op)
{
	struct zarrival **at = &self.detached;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	deliver(a, op);
}

struct visit {
	void (*visit)(struct zarrival *, void *ctx);
	void *ctx;
};

static void visit_unexpected(struct zmatch_unexpected *u, void *ctx)
{
	const struct visit *v = ctx;

	v->visit((struct zarrival *)(void *)u, v->ctx);
}

void zarrival_each(void (*visit)(struct zarrival *, void *ctx), void *ctx)
{
	struct visit v = {visit, ctx};

	zmatch_each_unexpected(&zarrival_match, visit_unexpected, &v);
	for (struct zarrival *a = self.detached; a; a = a->next)
		visit(a, ctx);
}

bool zarrival_try_unexpected(struct zop *op)
{
	struct zmatch_key key = zarrival_key(op->req.comm, op->context, op->rank, op->tag);
	struct zarrival *a = (struct zarrival *)zmatch_find_unexpected(&zarrival_match, &key);

	if (!a)
		return false;
	take_out(a);
	deliver(a, op);
	return true;
}

void zarrival_start_recv(struct zop *op)
{
	if (!zarrival_try_unexpected(op))
		zop_post(op);
}
