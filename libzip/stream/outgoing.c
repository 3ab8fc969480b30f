/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to one remote rank, see outgoing.h. */
#include "libzip/stream/outgoing.h"

#include <errno.h>
#include <string.h>

#include "libzip/shim/pool.h"
#include "libzip/stream/carrier.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_send.h"
#include "libzip/stream/way.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

void zoutgoing_fini(struct zstation *s)
{
	s->owed = NULL;
}

/* When all messages are acknowledged, the next one may go its own way again. */
static void choose_way(struct zremote *r)
{
	if (r->stream.last == r->stream.acked)
		r->by_list = false;
}

/* Appends a message to the stream; the payload is copied. False: no memory. */
static bool push_message(struct zremote *r, struct zchannel *way, struct zwire_env *env, const uint8_t *payload)
{
	struct zpeer_msg *m = zpeer_msg_create(env, payload);

	if (!m)
		return false;
	m->way = way;
	zpeer_push(&r->stream, m);
	return true;
}

static void post_stream(struct zremote *r)
{
	struct zpeer_msg *m;

	while ((m = zpeer_unsent(&r->stream))) {
		int rc = r->by_list ? zcarrier_post_one(r, &m->env, m->payload)
				    : zpost_message(r, m->way, &m->env, m->payload);
		if (rc != 0) {
			zway_make_ready(r);
			return;
		}
		zpeer_sent(&r->stream, m);
		if (m->way)
			zpost_flush(m->way); /* the caller flushes the usual way */
	}
}

bool zoutgoing_try_eager(struct zremote *r, uint64_t context, int tag, const struct zdata *d)
{
	if (!d->dense || d->bytes > zworld.eager_bytes || r->pending.head ||
		!zpeer_has_room(&r->stream, (uint32_t)d->bytes))
		return false;
	if (r->stream.gone)
		return true;
	struct zwire_env env = {
		.kind = ZWIRE_EAGER,
		.flags = d->converted ? ZWIRE_F_EXT32 : 0,
		.comm = context,
		.tag = tag,
		.len = (uint32_t)d->bytes,
		.offset = d->bytes,
	};
	choose_way(r);
	if (!push_message(r, NULL, &env, d->dense))
		return false;
	post_stream(r);
	zpost_flush(zway_of(r));
	return true;
}

static int pack_message(struct zop *op)
{
	if (op->data.dense && !zop_is_detached(op) && op->mode != ZSEND_COPIED)
		return MPI_SUCCESS;
	op->packed = zpool_get(op->data.bytes ? op->data.bytes : 1);
	if (!op->packed)
		return MPI_ERR_NO_MEM;
	if (!op->data.dense)
		return zdata_pack(op->packed, op->data.bytes, op->buf, op->count, op->type);
	memcpy(op->packed, op->data.dense, op->data.bytes);
	return MPI_SUCCESS;
}

int zoutgoing_start(struct zop *op)
{
	struct zremote *r = op->remote;
	int rc;

	rc = pack_message(op);
	if (rc != MPI_SUCCESS)
		return rc;
	op->t.total = op->data.bytes;
	if ((op->t.total > zworld.eager_bytes || op->mode == ZSEND_SYNC) && ztransfer_add(op) != 0)
		return MPI_ERR_NO_MEM;
	zoplist_push(&r->pending, op);
	zoutgoing_pump(r); /* op may be complete, and gone if it is an orphan */
	zpost_flush(zway_of(r));
	return MPI_SUCCESS;
}

/* The payload of a send's first message: all its bytes, or the key to them. */
static const uint8_t *first_payload(struct zop *op, struct zwire_env *env)
{
	if (env->kind == ZWIRE_EAGER) {
		env->len = (uint32_t)op->t.total;
		return zop_bytes(op);
	}
	if (!ztransfer_expose(op))
		return NULL;
	env->flags |= ZWIRE_F_ONE_SIDED;
	env->len = ZRMA_KEY_BYTES;
	return op->t.exposure.key;
}

/* Chooses the track of a large message, if there is a choice: the send is not tied to others, and goes by zippers. */
static void choose_track(struct zop *op)
{
	const struct zremote *r = op->remote;

	op->t.way = NULL;
	if (zrails_is_one() || op->t.tied || r->by_list || !zremote_is_bridged(r))
		return;
	const struct zrails_track by = zrails_choose(r->channel->by, r->channel->part);
	if (!zrails_same(by, r->channel->by))
		op->t.way = zchannel_open(r->station, by, r->channel->part);
}

/* Completes the envelope of an announcement of strands (strands.h). */
static void announce(const struct zop *op, struct zwire_env *env)
{
	env->flags |= ZWIRE_F_STRANDS;
	env->xfer = op->t.peer_xfer;
	env->offset = op->strands;
}

/* Moves the first pending send into the stream. False: no room, or no memory now. */
static bool admit(struct zremote *r, struct zop *op)
{
	if (op->t.group == ZTRANSFER_HELD)
		return false;
	bool eager = op->t.total <= zworld.eager_bytes;
	struct zwire_env env = {
		.kind = eager ? ZWIRE_EAGER : ZWIRE_RTS,
		.flags = (op->data.converted ? ZWIRE_F_EXT32 : 0) | (op->mode == ZSEND_SYNC ? ZWIRE_F_SYNC : 0),
		.comm = op->req.comm->id | op->context,
		.tag = op->tag,
		.xfer = op->t.xfer,
		.offset = op->t.total,
	};

	if (op->strands)
		announce(op, &env);
	if (!zpeer_has_room(&r->stream, eager ? (uint32_t)op->t.total : ZRMA_KEY_BYTES))
		return false;
	choose_way(r);
	if (!eager)
		choose_track(op);
	const uint8_t *payload = first_payload(op, &env);
	if (!push_message(r, op->t.way, &env, payload)) {
		ztransfer_conceal(op);
		zway_make_ready(r);
		return false;
	}
	zoplist_pop(&r->pending);
	op->t.seq = r->stream.last;
	op->t.carried = !eager && r->by_list;
	if (!eager)
		ztransfer_begin(op);
	if (op->t.xfer == 0)
		zop_finish_send(op, MPI_SUCCESS);
	return true;
}

void zoutgoing_pump(struct zremote *r)
{
	while (r->pending.head) {
		struct zop *op = r->pending.head;
		if (r->stream.gone) {
			zoplist_pop(&r->pending);
			zop_finish_send(op, op->t.xfer ? MPI_ERR_OTHER : MPI_SUCCESS);
		} else if (!admit(r, op)) {
			break;
		}
	}
	post_stream(r);
}

void zoutgoing_leave(struct zremote *r)
{
	zpeer_leave(&r->stream);
	ztransfer_send_leave(r);
	zoutgoing_pump(r);
}

void zoutgoing_owe(struct zremote *r)
{
	if (r->owed)
		return;
	r->owed = true;
	r->owed_next = r->station->owed;
	r->station->owed = r;
}

bool zoutgoing_ack(struct zstation *s, bool all)
{
	struct zremote **link = &s->owed;
	bool sent = false;

	while (*link) {
		struct zremote *r = *link;
		if (zpeer_owes_ack(&r->stream) && (all || zpeer_ack_is_due(&r->stream))) {
			struct zwire_env env = {.kind = ZWIRE_ACK};
			zpost_control(r, NULL, &env, NULL);
			zpeer_ack_sent(&r->stream);
			sent = true;
		}
		if (zpeer_owes_ack(&r->stream)) {
			link = &r->owed_next;
		} else {
			*link = r->owed_next;
			r->owed = false;
		}
	}
	return sent;
}

bool zoutgoing_owes(struct zstation *s)
{
	while (s->owed && !zpeer_owes_ack(&s->owed->stream)) { /* a message has carried the acknowledgement */
		s->owed->owed = false;
		s->owed = s->owed->owed_next;
	}
	return s->owed != NULL;
}

bool zoutgoing_drained(const struct zstation *s)
{
	for (int i = 0; i < zworld.nranks; i++) {
		const struct zremote *r = zremote_find(s, (uint32_t)i);
		if (r && (r->pending.head || r->stream.head))
			return false;
	}
	return true;
}
