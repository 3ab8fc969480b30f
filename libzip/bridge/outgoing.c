/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes to one remote rank, see outgoing.h. */
#include "libzip/bridge/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/bridge/channel.h"
#include "libzip/bridge/direct.h"
#include "libzip/shim/station.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/shim/pool.h"
#include "libzip/world/rails.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/bridge/strands.h"
#include "libzip/world/world.h"

static struct {
	struct zremote **remotes; /* [zworld.nranks], by vrank; NULL: never met */
	struct zremote *owed_head;
} stations[ZSTATIONS_MAX];
#define self (stations[zstation_here])

int zoutgoing_init(void)
{
	self.remotes = calloc((size_t)zworld.nranks, sizeof(*self.remotes));
	self.owed_head = NULL;
	return self.remotes ? 0 : -ENOMEM;
}

void zoutgoing_fini(void)
{
	for (int i = 0; self.remotes && i < zworld.nranks; i++) {
		if (self.remotes[i])
			zpeer_clear(&self.remotes[i]->stream);
		free(self.remotes[i]);
	}
	free(self.remotes);
	self.remotes = NULL;
	self.owed_head = NULL;
}

static struct zremote *add_remote(uint32_t vrank, struct zchannel *channel)
{
	struct zremote *r = channel ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->vrank = vrank;
	r->channel = channel;
	self.remotes[vrank] = r;
	if (zremote_is_bridged(r))
		zfailover_meet(r);
	return r;
}

struct zremote *zremote_get(uint32_t vrank)
{
	struct zremote *r = self.remotes[vrank];

	if (__builtin_expect(r != NULL, 1))
		return r;
	return add_remote(vrank, zdirect_begin(vrank));
}

struct zremote *zremote_get_direct(uint32_t vrank)
{
	return self.remotes[vrank] ? self.remotes[vrank] : add_remote(vrank, zchannel_create_waiting(vrank));
}

struct zremote *zremote_get_bridged(uint32_t vrank)
{
	struct zremote *r = self.remotes[vrank];

	if (__builtin_expect(!r, 0))
		return add_remote(vrank, zchannel_home(vrank));
	if (__builtin_expect(r->channel->waiting, 0))
		zdirect_give_way(r);
	return r;
}

bool zremote_is_bridged(const struct zremote *r)
{
	return r->channel->peer == ZWIRE_NOBODY && !r->channel->waiting;
}

struct zremote *zremote_find(uint32_t vrank)
{
	return self.remotes[vrank];
}

struct zchannel *zoutgoing_way(const struct zremote *r)
{
	const struct zpeer_msg *next = r->stream.unsent;

	if (r->by_list)
		return zmulticast_carrier();
	return next && next->way ? next->way : r->channel;
}

/* When all is acknowledged, the next message may go its own way again. */
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
		int rc = r->by_list ? zmulticast_post_one(r, &m->env, m->payload)
				    : zchannel_post(r, m->way, &m->env, m->payload);
		if (rc != 0) {
			zchannel_add_ready(r);
			return;
		}
		zpeer_sent(&r->stream, m);
		if (m->way)
			zchannel_flush(m->way); /* who calls us flushes the usual one */
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
	zchannel_flush(zoutgoing_way(r));
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

/* A persistent buffered send is complete at once; a copy goes its own way. */
static int start_copy(struct zop *op)
{
	struct zreq *copy;
	int rc = zbridge_isend(op->req.comm, op->context, op->buf, op->count, op->type, op->rank, op->tag,
		ZSEND_BUFFERED, &copy);

	if (rc == MPI_SUCCESS)
		zop_finish_send(op, MPI_SUCCESS);
	return rc;
}

int zoutgoing_start(struct zop *op)
{
	struct zremote *r = op->remote;
	int rc;

	if (op->req.persistent && op->mode == ZSEND_BUFFERED)
		return start_copy(op);
	rc = pack_message(op);
	if (rc != MPI_SUCCESS)
		return rc;
	op->total = op->data.bytes;
	if ((op->total > zworld.eager_bytes || op->mode == ZSEND_SYNC) && ztransfer_add(op) != 0)
		return MPI_ERR_NO_MEM;
	zop_list_push(&r->pending, op);
	zoutgoing_pump(r); /* op may be complete, and gone if it is an orphan */
	zchannel_flush(zoutgoing_way(r));
	return MPI_SUCCESS;
}

/* What the first message of a send carries: all of it, or the key to it. */
static const uint8_t *first_payload(struct zop *op, struct zwire_env *env)
{
	if (env->kind == ZWIRE_EAGER) {
		env->len = (uint32_t)op->total;
		return zop_bytes(op);
	}
	if (!ztransfer_expose(op))
		return NULL;
	env->flags |= ZWIRE_F_ONE_SIDED;
	env->len = ZRMA_KEY_BYTES;
	return op->exposure.key;
}

/* The rail of a large message, where there is a choice: it is not tied to others, and zippers it goes by. */
static void choose_rail(struct zop *op)
{
	const struct zremote *r = op->remote;

	op->way = NULL;
	if (zrails.n == 1 || op->multicast || r->by_list || !zremote_is_bridged(r))
		return;
	int rail = zrails_choose(r->channel->rail, r->channel->part);
	if (rail != r->channel->rail)
		op->way = zchannel_open(rail, r->channel->part);
}

/* The first pending send goes into the stream. False: no room, or no memory now. */
static bool admit(struct zremote *r, struct zop *op)
{
	if (op->held)
		return false;
	bool eager = op->total <= zworld.eager_bytes;
	struct zwire_env env = {
		.kind = eager ? ZWIRE_EAGER : ZWIRE_RTS,
		.flags = (op->data.converted ? ZWIRE_F_EXT32 : 0) | (op->mode == ZSEND_SYNC ? ZWIRE_F_SYNC : 0),
		.comm = op->req.comm->id | op->context,
		.tag = op->tag,
		.xfer = op->xfer,
		.offset = op->total,
	};

	if (op->strands)
		zstrands_announce(op, &env);
	if (!zpeer_has_room(&r->stream, eager ? (uint32_t)op->total : ZRMA_KEY_BYTES))
		return false;
	choose_way(r);
	if (!eager)
		choose_rail(op);
	const uint8_t *payload = first_payload(op, &env);
	if (!push_message(r, op->way, &env, payload)) {
		ztransfer_conceal(op);
		zchannel_add_ready(r);
		return false;
	}
	zop_list_pop(&r->pending);
	op->seq = r->stream.last;
	op->carried = !eager && r->by_list;
	if (!eager)
		ztransfer_begin(op);
	if (op->xfer == 0)
		zop_finish_send(op, MPI_SUCCESS);
	return true;
}

void zoutgoing_pump(struct zremote *r)
{
	while (r->pending.head) {
		struct zop *op = r->pending.head;
		if (r->stream.gone) {
			zop_list_pop(&r->pending);
			zop_finish_send(op, op->xfer ? MPI_ERR_OTHER : MPI_SUCCESS);
		} else if (!admit(r, op)) {
			break;
		}
	}
	post_stream(r);
}

void zoutgoing_leave(struct zremote *r)
{
	zpeer_leave(&r->stream);
	ztransfer_leave(r);
	zoutgoing_pump(r);
}

void zoutgoing_owe(struct zremote *r)
{
	if (r->owed)
		return;
	r->owed = true;
	r->owed_next = self.owed_head;
	self.owed_head = r;
}

bool zoutgoing_ack(bool all)
{
	struct zremote **link = &self.owed_head;
	bool sent = false;

	while (*link) {
		struct zremote *r = *link;
		if (zpeer_owes_ack(&r->stream) && (all || zpeer_ack_is_due(&r->stream))) {
			struct zwire_env env = {.kind = ZWIRE_ACK};
			zchannel_post_control(r, NULL, &env, NULL);
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

bool zoutgoing_owes(void)
{
	while (self.owed_head && !zpeer_owes_ack(&self.owed_head->stream)) { /* a message has carried it */
		self.owed_head->owed = false;
		self.owed_head = self.owed_head->owed_next;
	}
	return self.owed_head != NULL;
}

bool zoutgoing_drained(void)
{
	for (int i = 0; i < zworld.nranks; i++) {
		const struct zremote *r = self.remotes[i];
		if (r && (r->pending.head || r->stream.head))
			return false;
	}
	return true;
}
